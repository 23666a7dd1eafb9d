import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentGateway, ModelTurn } from './fixtures/agent-gateway.ts';
import { agentLab, isTurn, turnsOf } from './fixtures/agent-gateway.ts';
import { startAskingServer } from './fixtures/asking-server.ts';
import { offeredTools, saidIn } from './fixtures/model-loop.ts';
import type { ModelRequest } from './fixtures/model-script.ts';
import type { ModelServer } from './fixtures/model-server.ts';
import { startTaskServer } from './fixtures/task-server.ts';

const agents = agentLab();

interface Started extends AgentGateway {
  /** The model that talks with the user, and the small one. */
  readonly model: ModelServer;
  readonly low: ModelServer;
}

/** A gateway whose agent runs these pipelines, and answers with what the script says then. */
const start = async (
  definitions: unknown,
  options: {
    readonly then?: readonly ModelTurn[];
    readonly low?: readonly ModelTurn[];
    readonly corrects?: string;
    readonly servers?: object;
    readonly mcp?: object;
  } = {},
): Promise<Started> => {
  const { then = [{ text: 'That is what they gave.' }], corrects = 'A server.', mcp = {}, servers = {} } = options;
  const alone = () => ({ text: corrects });
  const model = await agents.model(
    turnsOf([{ calls: [{ name: 'spawn_wisps', args: { definitions } }] }, ...then], alone),
  );
  const low = await agents.model(turnsOf(options.low ?? [], alone));
  const gateway = await agents.serve(
    {
      models: {
        balanced: { endpoint: model.endpoint, modelId: 'big' },
        low: { endpoint: low.endpoint, modelId: 'small' },
        tierThresholds: { low: 0, balanced: 1 },
      },
      mcp,
    },
    servers,
  );
  return { ...gateway, model, low };
};
/** What the agent was told of its pipelines. */
const report = ({ model }: Started): string => saidIn(model.requests.filter(isTurn)[1]!);
const thought = ({ low }: Started): readonly ModelRequest[] => low.requests.filter(isTurn);

const research = {
  id: 'look',
  mode: 'Direct',
  gateway: 'Mcp',
  server: 'lab',
  tool: 'research',
  params: { topic: 'tides' },
};

describe('pipelines of an agent', () => {
  it.each([
    ['pinned', {}],
    ['off for small models', { wrapperModeByTier: { low: 'off' } }],
  ])('call servers, scripts and a small model with few tools, with typed tools %s', async (_, mcp) => {
    const lab = await agents.use(startTaskServer());
    const started = await start(
      [
        {
          description: 'Tides',
          steps: [
            { ...research, output_to: 'tides.txt' },
            {
              id: 'count',
              mode: 'Direct',
              gateway: 'Script',
              language: 'javascript',
              input_from: 'look',
              params: { script: 'console.log(process.env.GANTRY_INPUT.length)' },
            },
            { id: 'sum', mode: 'Llm', prompt: 'Say it in one word.' },
          ],
        },
        {
          description: 'Nobody',
          steps: [{ id: 'x', mode: 'Direct', gateway: 'A2A', agent: 'bob', skill: 's', message: 'm' }],
        },
      ],
      {
        mcp,
        servers: { lab: { url: lab.url, tasks: true } },
        low: [{ calls: [{ name: 'lab__research', args: { topic: 'moon' } }] }, { text: 'Moon.' }],
      },
    );
    expect(await started.ask('run them')).toMatchObject({
      reply: 'That is what they gave.',
      toolCalls: [{ name: 'spawn_wisps', isError: false }],
    });
    const said = report(started);
    expect(said).toContain('PARTIAL FAILURE: 2 wisp(s) completed (1 succeeded, 1 failed, 2 total)');
    expect(said).toContain('\\nMoon.');
    expect(said).toContain('Structural: Agent \\"bob\\" was not called');
    // The server's calls are never tasks: nobody could be told of their end.
    expect(lab.ranAtOnce).toEqual(['research', 'research']);
    const [first, second] = thought(started);
    expect(first?.body['model']).toBe('small');
    expect(offeredTools(first!).toSorted()).toEqual([
      'delete_from_working_memory',
      'execute_javascript_script',
      'get_from_working_memory',
      'lab__research',
      'save_to_working_memory',
      'search_working_memory',
    ]);
    expect(saidIn(first!)).not.toContain('# MCP servers');
    expect(saidIn(first!)).toContain('<data from=\\"look\\">\\nran at once\\n</data>');
    expect(saidIn(first!)).toContain('<data from=\\"count\\">\\n11');
    expect(saidIn(second!)).toContain('ran at once');
    expect(readFileSync(join(agents.folder.path, '.gantry/shared/tides.txt'), 'utf8')).toBe('ran at once');
    expect(readFileSync(join(agents.folder.path, '.gantry/wisps.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(2);
  });

  it('keep a long result whole between steps, and out of the conversation', async () => {
    const started = await start(
      {
        description: 'long',
        steps: [
          {
            id: 'make',
            mode: 'Direct',
            gateway: 'Script',
            language: 'javascript',
            params: { script: 'console.log("x".repeat(100000))' },
          },
          {
            id: 'count',
            mode: 'Direct',
            gateway: 'Script',
            language: 'javascript',
            params: { script: 'console.log(process.env.GANTRY_INPUT.trim().length)' },
            input_from: 'make',
          },
        ],
      },
      {},
    );
    await started.ask('run them');
    expect(report(started)).toMatch(/ok, \d+ ms\\n100000/);
    expect(report(started).length).toBeLessThan(20_000);
  });

  it('have their parameters put right by the small model before a server is asked', async () => {
    const lab = await agents.use(startAskingServer());
    const started = await start(
      {
        description: 'book',
        steps: [{ id: 'b', mode: 'Direct', gateway: 'Mcp', tool: 'asking__book', params: { title: 'Hamlet' } }],
      },
      {
        corrects: '{"show": "Hamlet"}',
        servers: { asking: { url: lab.url, elicitation: { mode: 'handback', defaults: { seats: 2 } } } },
      },
    );
    await started.ask('run them');
    // A pipeline is asked nothing: the server's policy answers.
    expect(lab.done).toEqual(['booked 2 for Hamlet']);
    expect(report(started)).toContain('1 succeeded');
    expect(await agents.folder.json(['questions', 'list', '--json'])).toEqual([0, { questions: [] }]);
  });

  it('are refused as a whole when a definition is wrong, with what to change', async () => {
    const started = await start([
      { description: 'x', steps: [{ id: 'a', mode: 'Direct', gateway: 'Mpc', tool: 't' }] },
    ]);
    expect(await started.ask('run them')).toMatchObject({ toolCalls: [{ name: 'spawn_wisps', isError: true }] });
    expect(report(started)).toContain('pipeline 1 (\\"x\\"), step \\"a\\": \\"gateway\\" is \\"Mpc\\"');
  });

  it('may come as one JSON text, as weak models send them', async () => {
    const started = await start(JSON.stringify({ description: 'x', steps: [{ id: 'a', mode: 'Llm', prompt: 'hi' }] }), {
      low: [{ text: 'hello' }],
    });
    await started.ask('run them');
    expect(report(started)).toContain('1 succeeded');
  });
});
