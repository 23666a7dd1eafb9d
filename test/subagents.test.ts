import { describe, expect, it } from 'vitest';
import type { AgentGateway, ModelTurn } from './fixtures/agent-gateway.ts';
import { agentLab, isTurn, turnsOf } from './fixtures/agent-gateway.ts';
import { startAskingServer } from './fixtures/asking-server.ts';
import { offeredTools, saidIn } from './fixtures/model-loop.ts';
import type { ModelRequest, ScriptedReply } from './fixtures/model-script.ts';
import type { ModelServer } from './fixtures/model-server.ts';
import { startTaskServer } from './fixtures/task-server.ts';

const lab = agentLab();

interface Started extends AgentGateway {
  readonly model: ModelServer;
  /** What the agent that talks with the user was asked; and its subagents. */
  primary(): readonly ModelRequest[];
  delegated(): readonly ModelRequest[];
}

const isDelegated = (request: ModelRequest): boolean => saidIn(request).includes('You are a subagent');

/** A gateway whose agent follows one script, and its subagents another. */
const start = async (
  scripts: { readonly primary: readonly ModelTurn[]; readonly delegated: readonly ModelTurn[] },
  options: { readonly servers?: object; readonly loop?: object } = {},
): Promise<Started> => {
  const primary = turnsOf(scripts.primary);
  const delegated = turnsOf(scripts.delegated);
  const model = await lab.model((request) => (isDelegated(request) ? delegated : primary)(request));
  const gateway = await lab.serve(
    { models: { balanced: { endpoint: model.endpoint, modelId: 'scripted' } }, loop: options.loop ?? {} },
    options.servers ?? {},
  );
  return {
    ...gateway,
    model,
    primary: () => model.requests.filter((request) => isTurn(request) && !isDelegated(request)),
    delegated: () => model.requests.filter(isDelegated),
  };
};
const delegate = (description: string, more: object = {}): ScriptedReply => ({
  calls: [{ name: 'spawn_subagent', args: { description, ...more } }],
});
const idIn = (request: ModelRequest | undefined): string => /task_id ([0-9a-f]{12})/.exec(saidIn(request!))?.[1] ?? '';
const held = (): { readonly until: Promise<void>; readonly release: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { until: promise, release: resolve };
};

describe('a conversation with a subagent', () => {
  it('goes on at once, hears reports, and answers with the result when it is there', async () => {
    const table = 'row '.repeat(10);
    const started = await start({
      primary: [
        delegate('Find the three best tables.', { context: 'for a restaurant' }),
        { text: 'I have handed that over.' },
        { text: 'It has begun.' },
        (request) => ({
          calls: [{ name: 'get_from_working_memory', args: { key: `subagent/${idIn(request)}/table` } }],
        }),
        { text: 'Here are the tables.' },
      ],
      delegated: [
        { calls: [{ name: 'report_progress', args: { message: 'Found one.' } }] },
        {
          calls: [{ name: 'save_to_working_memory', args: { key: 'table', data: table, ttl_minutes: 240 } }],
        },
        { text: 'Saved as table.' },
      ],
    });
    const { texts } = await started.replies(3);
    expect(await started.ask('find tables')).toMatchObject({ reply: 'I have handed that over.' });
    expect(await texts).toEqual(['I have handed that over.', 'It has begun.', 'Here are the tables.']);
    const [first, ...others] = started.delegated();
    expect(saidIn(first!)).toContain('Find the three best tables.');
    expect(saidIn(first!)).toContain('# Background\\n\\nfor a restaurant');
    expect(saidIn(first!)).not.toContain('find tables"');
    expect(others).toHaveLength(2);
    const said = saidIn(started.primary().at(-1)!);
    expect(said).toContain('[Notice of the system, not from the user] [Subagent task');
    expect(said).toContain('reports]: Found one.');
    expect(said).toContain('completed]: Saved as table.');
    expect(said).toContain(table);
  });

  it('gives it neither the tools to delegate further nor those that outlast it', async () => {
    const started = await start({
      primary: [delegate('look'), { text: 'Handed over.' }, { text: 'Done.' }],
      delegated: [
        {
          calls: [
            { name: 'spawn_subagent', args: { description: 'nested' } },
            { name: 'schedule_task', args: { name: 'x', cron: '* * * * *', description: 'y' } },
            { name: 'mcp_register_server', args: { name: 'x', url: 'https://example.com' } },
          ],
        },
        { text: 'I could not.' },
      ],
    });
    const { texts } = await started.replies(2);
    await started.ask('go');
    expect(await texts).toEqual(['Handed over.', 'Done.']);
    const [first, second] = started.delegated();
    const offered = offeredTools(first!);
    expect(offered).toEqual(
      expect.arrayContaining([
        'report_progress',
        'save_to_working_memory',
        'get_skill',
        'get_tool_guide',
        'mcp_find_tools',
        'web_search',
      ]),
    );
    for (const name of [
      'spawn_subagent',
      'cancel_subagent',
      'list_subagents',
      'schedule_task',
      'list_scheduled_tasks',
      'cancel_scheduled_task',
      'invoke_agent',
      'mcp_register_server',
      'mcp_unregister_server',
    ])
      expect(offered).not.toContain(name);
    expect(saidIn(second!).match(/may not call|no tool named/g)).toHaveLength(3);
    expect(offeredTools(started.primary()[0]!)).toContain('spawn_subagent');
    expect(offeredTools(started.primary()[0]!)).not.toContain('report_progress');
  });

  it('can be talked to while it works; a message ends the turn and not the subagent', async () => {
    const working = held();
    const turn = held();
    const started = await start({
      primary: [
        delegate('slow work'),
        { text: 'Handed', hold: turn.until },
        { calls: [{ name: 'list_subagents' }] },
        { text: 'It still works.' },
        { text: 'The slow work gave nothing.' },
      ],
      delegated: [{ text: 'Slow work is done.', hold: working.until }],
    });
    const { texts } = await started.replies(2);
    const first = started.ask('start it');
    await expect.poll(() => started.primary().length).toBe(2);
    expect(await started.ask('how is it going?')).toMatchObject({ reply: 'It still works.' });
    expect(await first).toMatchObject({ status: 'superseded' });
    expect(saidIn(started.primary()[3]!)).toContain('1 active subagent');
    working.release();
    turn.release();
    expect(await texts).toEqual(['It still works.', 'The slow work gave nothing.']);
    expect(started.model.aborted).toBe(1);
    expect(saidIn(started.primary().at(-1)!)).toContain('completed]: Slow work is done.');
  });

  it('is told together of several that it started together, and refused a fourth', async () => {
    const four = ['one', 'two', 'three', 'four'];
    const started = await start({
      primary: [
        { calls: four.map((name) => ({ name: 'spawn_subagent', args: { description: name } })) },
        { text: 'Three were started.' },
        { text: 'All in one.' },
      ],
      delegated: [{ text: 'first' }, { text: 'second' }, { text: 'third' }],
    });
    const { texts } = await started.replies(2);
    expect(await started.ask('go')).toMatchObject({ toolCalls: [{}, {}, {}, { isError: true }] });
    expect(await texts).toEqual(['Three were started.', 'All in one.']);
    expect(saidIn(started.primary()[1]!)).toContain('"Error: 3 subagents run already');
    const said = saidIn(started.primary().at(-1)!);
    for (const text of ['3 subagents have ended', 'completed]: first', 'completed]: second', 'completed]: third'])
      expect(said).toContain(text);
  });

  it('cancels it, in the middle of an answer of its model', async () => {
    const working = held();
    const begun = held();
    const started = await start({
      primary: [
        delegate('slow work'),
        (request) => ({
          calls: [{ name: 'cancel_subagent', args: { task_id: idIn(request) } }],
          hold: begun.until,
        }),
        { text: 'Cancelled.' },
        { text: 'Nothing runs.' },
      ],
      delegated: [{ text: 'never', hold: working.until }],
    });
    const answered = started.ask('start and stop');
    await expect.poll(() => started.delegated().length).toBe(1);
    begun.release();
    expect(await answered).toMatchObject({ reply: 'Cancelled.' });
    await expect.poll(() => started.model.aborted).toBe(1);
    expect(saidIn(started.primary()[2]!)).toContain('was cancelled.');
    await started.ask('and now?');
    expect(saidIn(started.primary()[3]!)).toContain('completed with error: It was cancelled.');
    // It was put on record and led to no turn.
    expect(started.primary()).toHaveLength(4);
    working.release();
  });
});

describe('a subagent and servers', () => {
  it('gets questions handed back, and can only decline what is for the user to decide', async () => {
    const server = await lab.use(startAskingServer());
    const question = (request: ModelRequest): string => /q_[0-9a-f]{32}/.exec(saidIn(request))?.[0] ?? '';
    const started = await start(
      {
        primary: [delegate('wipe it'), { text: 'Handed over.' }, { text: 'It was not wiped.' }],
        delegated: [
          { calls: [{ name: 'asking__wipe' }] },
          (request) => ({
            calls: [{ name: 'mcp_answer', args: { question_id: question(request), answers: { confirm: true } } }],
          }),
          (request) => ({ calls: [{ name: 'mcp_answer', args: { question_id: question(request), decline: true } }] }),
          { text: 'I declined, because the user must decide.' },
        ],
      },
      { servers: { asking: { url: server.url, elicitation: { mode: 'handback' } } } },
    );
    const { texts } = await started.replies(2);
    await started.ask('wipe everything');
    expect(await texts).toEqual(['Handed over.', 'It was not wiped.']);
    expect(server.done).toEqual(['kept']);
  });

  it('that leaves a question open has it released when it ends', async () => {
    const server = await lab.use(startAskingServer());
    const started = await start(
      {
        primary: [delegate('book'), { text: 'Handed over.' }, { text: 'Not booked.' }],
        delegated: [{ calls: [{ name: 'asking__book', args: { show: 'Hamlet' } }] }, { text: 'It asks for seats.' }],
      },
      { servers: { asking: { url: server.url, elicitation: { mode: 'handback' } } } },
    );
    const { texts } = await started.replies(2);
    await started.ask('book Hamlet');
    await texts;
    expect(saidIn(started.delegated()[1]!)).toContain('How many seats?');
    expect(await lab.folder.json(['questions', 'list', '--json'])).toEqual([0, { questions: [] }]);
  });

  it('waits for its background task, and reports with the result of it', async () => {
    const server = await lab.use(startTaskServer());
    const started = await start(
      {
        primary: [delegate('research tides'), { text: 'Handed over.' }, { text: 'Tides come from the moon.' }],
        delegated: [
          { calls: [{ name: 'lab__research', args: { topic: 'tides' } }] },
          { text: 'The research runs.' },
          { text: 'The moon does it.' },
        ],
      },
      { servers: { lab: { url: server.url, tasks: true } } },
    );
    const { texts } = await started.replies(2);
    await started.ask('research tides');
    await server.until('tasks/get', 1);
    await expect.poll(() => started.delegated().length).toBe(2);
    server.complete(0, 'the moon pulls');
    expect(await texts).toEqual(['Handed over.', 'Tides come from the moon.']);
    expect(saidIn(started.delegated()[2]!)).toContain('the moon pulls');
    expect(saidIn(started.primary().at(-1)!)).toContain('completed]: The moon does it.');
  });
});

describe('the end of the gateway', () => {
  const working = (): Promise<Started> =>
    start({
      primary: [delegate('slow work'), { text: 'Handed over.' }, { text: 'I see that it was interrupted.' }],
      delegated: [{ text: 'never', hold: new Promise(() => {}) }],
    });
  const lastSaid = (started: Started): string => saidIn(started.primary().at(-1)!);

  it('ends a subagent, and the conversation knows it afterwards', async () => {
    const started = await working();
    await started.ask('start it');
    await expect.poll(() => started.delegated().length).toBe(1);
    await started.process.stop();
    const gateway = await lab.serve();
    expect(await gateway.ask('and?')).toMatchObject({ reply: 'I see that it was interrupted.' });
    expect(lastSaid(started)).toContain('completed with error: Gantry was stopped before it had finished.');
  });

  it('without a farewell is told once its lease has run out', async () => {
    const started = await working();
    await started.ask('start it');
    await expect.poll(() => started.delegated().length).toBe(1);
    await started.process.stop('SIGKILL');
    const gateway = await lab.serve();
    const turns = async (): Promise<string> => (await fetch(`${gateway.url}/api/v1/sessions/s1`)).text();
    await expect
      .poll(turns, { timeout: 50_000, interval: 500 })
      .toContain('completed with error: Gantry ended before it had finished');
    expect(started.primary()).toHaveLength(2);
  });
});
