import { describe, expect, it } from 'vitest';
import type { AgentGateway, ModelTurn } from './fixtures/agent-gateway.ts';
import { agentLab, isTurn, turnsOf } from './fixtures/agent-gateway.ts';
import { startAskingServer } from './fixtures/asking-server.ts';
import { offeredTools, saidIn } from './fixtures/model-loop.ts';
import type { ModelRequest } from './fixtures/model-script.ts';
import { startTaskServer } from './fixtures/task-server.ts';

const agents = agentLab();

interface Started extends AgentGateway {
  /** What the agent that talks with the user was asked; and its workers. */
  primary(): readonly ModelRequest[];
  worked(): readonly ModelRequest[];
}

/** A gateway whose agent starts these workers, each of which says what follows its task in `work`. */
const start = async (
  definitions: object,
  work: Readonly<Record<string, readonly ModelTurn[]>>,
  servers: object = {},
): Promise<Started> => {
  const model = await agents.model(
    turnsOf([{ calls: [{ name: 'spawn_workers', args: { definitions } }] }, { text: 'They are done.' }]),
  );
  const scripts = Object.entries(work).map(([task, turns]) => [task, turnsOf(turns)] as const);
  const low = await agents.model((request) => {
    const [, follow] = scripts.find(([task]) => saidIn(request).includes(task)) ?? [];
    return follow?.(request) ?? { text: 'A server.' };
  });
  const gateway = await agents.serve(
    {
      models: {
        balanced: { endpoint: model.endpoint, modelId: 'big' },
        low: { endpoint: low.endpoint, modelId: 'small' },
        tierThresholds: { low: 0, balanced: 1 },
      },
    },
    servers,
  );
  return {
    ...gateway,
    primary: () => model.requests.filter(isTurn),
    worked: () => low.requests.filter(isTurn),
  };
};

describe('workers of an agent', () => {
  it('work side by side with what they may use, and their caller gets keys and beginnings', async () => {
    const server = await agents.use(startTaskServer());
    const started = await start(
      [
        { description: 'Look up tides.', tools_allow: ['lab.*'], result_key: 'tides' },
        { description: 'Write a note.' },
      ],
      {
        'Look up tides.': [
          { calls: [{ name: 'report_progress', args: { message: 'I look.' } }] },
          {
            calls: [
              { name: 'spawn_wisps', args: { definitions: [] } },
              { name: 'mcp_invoke_tool', args: {} },
            ],
          },
          { text: `The moon does it. ${'x'.repeat(2_000)}` },
        ],
        'Write a note.': [
          { calls: [{ name: 'save_to_working_memory', args: { key: 'note', data: 'hi', ttl_minutes: 240 } }] },
          { text: 'Written.' },
        ],
      },
      { lab: { url: server.url } },
    );
    expect(await started.ask('go')).toMatchObject({
      reply: 'They are done.',
      toolCalls: [{ name: 'spawn_workers', isError: false }],
    });
    const of = (task: string): readonly ModelRequest[] =>
      started.worked().filter((request) => saidIn(request).includes(task));
    const offered = offeredTools(of('Look up tides.')[0]!);
    expect(offered).toContain('lab__research');
    for (const name of [
      'mcp_find_tools',
      'mcp_invoke_tool',
      'spawn_wisps',
      'spawn_workers',
      'spawn_subagent',
      'web_search',
    ])
      expect(offered).not.toContain(name);
    expect(saidIn(of('Look up tides.').at(-1)!).match(/may not call/g)).toHaveLength(2);
    const free = offeredTools(of('Write a note.')[0]!);
    expect(free).toEqual(
      expect.arrayContaining([
        'mcp_find_tools',
        'spawn_wisps',
        'file_write',
        'get_from_working_memory',
        'report_progress',
      ]),
    );
    for (const name of ['spawn_workers', 'spawn_subagent', 'schedule_task', 'mcp_register_server', 'web_search'])
      expect(free).not.toContain(name);
    const told = saidIn(started.primary()[1]!);
    expect(told).toContain('2 worker(s) ended (2 succeeded, 0 failed)');
    expect(told).toContain('session/s1/tides');
    expect(told).toMatch(/factsRecorded[\\":]+1/);
    expect(told).not.toContain('x'.repeat(1_000));
    const [, shown] = await agents.folder.json(['memory', 'show', 'session/s1/tides', '--json']);
    expect(JSON.stringify(shown)).toContain(`The moon does it. ${'x'.repeat(2_000)}`);
  });

  it('leave no question of a server open behind them', async () => {
    const server = await agents.use(startAskingServer());
    const started = await start(
      [{ description: 'Book Hamlet.', tools_allow: ['asking.*'] }],
      {
        'Book Hamlet.': [
          { calls: [{ name: 'asking__book', args: { show: 'Hamlet' } }] },
          { text: 'BLOCKED: it asks for seats' },
        ],
      },
      { asking: { url: server.url, elicitation: { mode: 'handback' } } },
    );
    await started.ask('book');
    expect(saidIn(started.worked().at(-1)!)).toContain('How many seats?');
    expect(saidIn(started.primary()[1]!)).toContain('ALL WORKERS FAILED');
    expect(await agents.folder.json(['questions', 'list', '--json'])).toEqual([0, { questions: [] }]);
  });
});

describe('services that fit a message', () => {
  it('stand beside it, two at most, and are found by the tool for it', async () => {
    const server = await agents.use(startTaskServer());
    const started = await start([{ description: 'x' }], { x: [{ text: 'y' }] }, { lab: { url: server.url } });
    await started.ask('some lab research, please');
    const said = saidIn(started.primary()[0]!);
    expect(said).toContain('Services that may fit this message:\\n- lab (mcp):');
    expect(said).toContain('lab__research');
    const found = await started.post('/tools/search_known_services/call', { arguments: { query: 'research' } });
    expect(JSON.stringify(await found.json())).toMatch(/relevance_score[\\":]+1/);
  });
});
