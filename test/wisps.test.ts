import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAskingServer } from './fixtures/asking-server.ts';
import type { GantryFolder, ServingGantry } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { offeredTools, saidIn } from './fixtures/model-loop.ts';
import type { ModelRequest, ScriptedReply } from './fixtures/model-script.ts';
import type { ModelServer } from './fixtures/model-server.ts';
import { startModel } from './fixtures/model-server.ts';
import { startTaskServer } from './fixtures/task-server.ts';

type Turn = ScriptedReply | ((request: ModelRequest) => ScriptedReply);

let folder: GantryFolder;
let open = new AsyncDisposableStack();
beforeEach(() => {
  folder = makeGantryFolder();
});
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
  folder[Symbol.dispose]();
});

interface Started {
  readonly gateway: ServingGantry;
  /** The model that talks with the user, and the small one. */
  readonly model: ModelServer;
  readonly low: ModelServer;
}

/** A gateway whose agent runs these pipelines, and answers with what the script says then. */
const start = async (
  definitions: unknown,
  options: {
    readonly then?: readonly Turn[];
    readonly low?: readonly Turn[];
    readonly corrects?: string;
    readonly servers?: object;
    readonly mcp?: object;
  } = {},
): Promise<Started> => {
  const script: readonly Turn[] = [
    { calls: [{ name: 'spawn_wisps', args: { definitions } }] },
    ...(options.then ?? [{ text: 'That is what they gave.' }]),
  ];
  const follow = (turns: readonly Turn[]): ((request: ModelRequest) => ScriptedReply) => {
    let at = 0;
    return (request) => {
      if (request.body['stream'] !== true) return { text: options.corrects ?? 'A server.' };
      const reply = turns[at++] ?? { text: '(end of the script)' };
      return typeof reply === 'function' ? reply(request) : reply;
    };
  };
  const model = open.use(await startModel(follow(script)));
  const low = open.use(await startModel(follow(options.low ?? [])));
  folder.write('gantry.config.json', {
    models: {
      balanced: { endpoint: model.endpoint, modelId: 'big' },
      low: { endpoint: low.endpoint, modelId: 'small' },
      tierThresholds: { low: 0, balanced: 1 },
    },
    mcp: options.mcp ?? {},
  });
  folder.write('mcp.json', { mcpServers: options.servers ?? {} });
  const gateway = open.use(await folder.serve());
  await fetch(`${gateway.url}/api/v1/servers/refresh`, { method: 'POST', body: '{}' });
  return { gateway, model, low };
};
const ask = async ({ gateway }: Started): Promise<Record<string, unknown>> => {
  const response = await fetch(`${gateway.url}/api/v1/sessions/s1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'run them' }),
  });
  return (await response.json()) as Record<string, unknown>;
};
/** What the agent was told of its pipelines. */
const report = ({ model }: Started): string => saidIn(model.requests.filter(({ body }) => body['stream'] === true)[1]!);
const thought = ({ low }: Started): readonly ModelRequest[] =>
  low.requests.filter(({ body }) => body['stream'] === true);

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
    const lab = open.use(await startTaskServer());
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
              params: { script: 'console.log("{{steps.look.result}}".length)' },
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
    expect(await ask(started)).toMatchObject({
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
    expect(readFileSync(join(folder.path, '.gantry/shared/tides.txt'), 'utf8')).toBe('ran at once');
    expect(readFileSync(join(folder.path, '.gantry/wisps.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(2);
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
    await ask(started);
    expect(report(started)).toMatch(/ok, \d+ ms\\n100000/);
    expect(report(started).length).toBeLessThan(20_000);
  });

  it('have their parameters put right by the small model before a server is asked', async () => {
    const lab = open.use(await startAskingServer());
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
    await ask(started);
    // A pipeline is asked nothing: the server's policy answers.
    expect(lab.done).toEqual(['booked 2 for Hamlet']);
    expect(report(started)).toContain('1 succeeded');
    expect(await folder.json(['questions', 'list', '--json'])).toEqual([0, { questions: [] }]);
  });

  it('are refused as a whole when a definition is wrong, with what to change', async () => {
    const started = await start([
      { description: 'x', steps: [{ id: 'a', mode: 'Direct', gateway: 'Mpc', tool: 't' }] },
    ]);
    expect(await ask(started)).toMatchObject({ toolCalls: [{ name: 'spawn_wisps', isError: true }] });
    expect(report(started)).toContain('pipeline 1 (\\"x\\"), step \\"a\\": \\"gateway\\" is \\"Mpc\\"');
  });

  it('may come as one JSON text, as weak models send them', async () => {
    const started = await start(JSON.stringify({ description: 'x', steps: [{ id: 'a', mode: 'Llm', prompt: 'hi' }] }), {
      low: [{ text: 'hello' }],
    });
    await ask(started);
    expect(report(started)).toContain('1 succeeded');
  });
});
