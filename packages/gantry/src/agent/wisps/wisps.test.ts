import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import type { MemoryRecord, WorkingMemory } from '../../memory/working-memory.ts';
import { createWorkingMemory } from '../../memory/working-memory.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../store/store.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { testKeyring } from '../../testing/test-keyring.ts';
import type { CallContext } from '../../tool/context.ts';
import type { Tool } from '../../tool/executor.ts';
import type { Outcome } from '../../tool/outcome.ts';
import { failedOutcome, textOutcome } from '../../tool/outcome.ts';
import { outcomeText } from '../../tool/outcome-text.ts';
import { toRegistration } from '../../tool/registration.ts';
import { createVolume } from '../../volume/volume.ts';
import type { LoopResult, LoopRun } from '../loop/loop-run.ts';
import { createWispLog } from './wisp-log.ts';
import { wispTool } from './wisp-tool.ts';
import { createWisps } from './wisps.ts';

const minuteMs = 60_000;
let clock: FakeClock;
let store: Store;
let memory: WorkingMemory;
let folder: string;
let tools: Tool[];
let calls: { name: string; args: JsonObject; context: CallContext }[];
let runs: LoopRun[];
let corrections: string[];
let invoke: (name: string, args: JsonObject, signal: AbortSignal) => Promise<Outcome>;
let think: (run: LoopRun) => Promise<Partial<LoopResult> & { readonly text: string }>;
let correct: () => Promise<string>;
let tool: Tool;

const typed = (server: string, name: string, inputSchema: JsonObject = { type: 'object' }): Tool => ({
  registration: toRegistration({
    name: `${server}__${name}`,
    description: 'd',
    source: `mcp:${server}`,
    target: { server, tool: name },
    inputSchema,
  }),
  executor: { execute: async () => textOutcome('') },
});
const plain = (name: string): Tool => ({
  registration: toRegistration({ name, description: 'd', source: 'x' }),
  executor: { execute: async () => textOutcome('') },
});

beforeEach(async () => {
  clock = fakeClock();
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  memory = createWorkingMemory({ keyValue: store.keyValue<MemoryRecord>('memory'), clock, log: silentLog });
  folder = mkdtempSync(join(tmpdir(), 'gantry-wisps-'));
  tools = [typed('notes', 'add'), typed('notes', 'list'), plain('mcp_invoke_tool'), plain('analyze_file')];
  calls = [];
  runs = [];
  corrections = [];
  invoke = async (_name, args) => textOutcome(JSON.stringify(args));
  think = async () => ({ text: 'thought' });
  correct = async () => Promise.reject(new GantryError('model_missing', 'none'));
  const find = (name: string): Tool | undefined => tools.find(({ registration }) => registration.name === name);
  tool = wispTool(
    createWisps({
      callable: {
        find,
        for: () => ({ tools: tools.map(({ registration }) => registration) }),
        prepare: async () => {},
      },
      invoker: {
        invoke: async ({ name, arguments: args }, context) => {
          calls.push({ name, args: args as JsonObject, context });
          return invoke(name, args as JsonObject, context.signal!);
        },
      },
      toolsOf: (server) => tools.filter(({ registration }) => registration.target?.server === server.toLowerCase()),
      providers: [({ field }) => (field === 'timezone' ? 'Europe/Oslo' : undefined)],
      model: {
        complete: async ({ prompt }) => {
          corrections.push(prompt);
          return correct();
        },
      },
      runLoop: async (run) => {
        runs.push(run);
        return {
          steps: [],
          endedBy: 'answer',
          tier: 'low',
          model: 'm',
          usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
          ...(await think(run)),
        };
      },
      memory,
      volume: createVolume(join(folder, 'shared')),
      clock,
      newId,
      log: silentLog,
      wispLog: createWispLog({ path: join(folder, 'data', 'wisps.jsonl'), clock, log: silentLog }),
      maxConcurrent: 10,
    }),
  );
});
afterEach(async () => {
  await memory[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const run = async (definitions: unknown, more: Partial<CallContext> = {}): Promise<string> => {
  const { registration, executor } = tool;
  return outcomeText(
    await executor.execute(
      { id: 'c', name: 'spawn_wisps', arguments: { definitions } as JsonObject, registration },
      { caller: 'model', namespace: 'session/s1', ...more },
    ),
  );
};
const mcp = (id: string, params: unknown = {}, more: object = {}): object => ({
  id,
  mode: 'Direct',
  gateway: 'Mcp',
  tool: 'notes__add',
  params,
  ...more,
});
const llm = (id: string, prompt = 'Sum up.', more: object = {}): object => ({ id, mode: 'Llm', prompt, ...more });
const wisp = (...steps: object[]): object => ({ description: 'test', steps });
const fails = (on: string, text = 'The disk is full', code: 'execution_failed' | 'timeout' = 'execution_failed') => {
  invoke = async (_name, args) => (args['at'] === on ? failedOutcome(code, text) : textOutcome(JSON.stringify(args)));
};
const said = ({ messages }: LoopRun): string => {
  const content = messages.at(-1)?.content;
  return typeof content === 'string' ? content : '';
};
const wispIdIn = (report: string): string => /wisp-[0-9a-f]{11}/.exec(report)?.[0] ?? '';

describe('a pipeline', () => {
  it('runs its steps in order, each with what those before gave', async () => {
    invoke = async (_name, args) => textOutcome(`got ${JSON.stringify(args['x'] ?? 1)}`);
    const report = await run([
      wisp(mcp('a'), mcp('b', { x: '{{steps.a.result}}' }), mcp('c', { x: '{{steps.b.result}}' })),
    ]);
    expect(calls.map(({ args }) => args)).toEqual([{}, { x: 'got 1' }, { x: 'got "got 1"' }]);
    expect(report).toMatch(/^1 wisp\(s\) completed \(1 succeeded, 0 failed, 1 total\)\./);
    expect(report).toMatch(/wisp-[0-9a-f]{11} "test": ok, \d+ ms\ngot "got/);
    expect(report).toMatch(/Batch batch-[0-9a-f]{12}\./);
  });

  it('is no caller that servers could ask or answer late, and gets results whole', async () => {
    await run(wisp(mcp('a')), {
      workspace: 'w',
      features: new Set(['f']),
      answersQuestions: true,
      receivesLateResults: true,
    });
    const [{ context } = { context: undefined }] = calls;
    expect(context).toMatchObject({ caller: 'model', tier: 'low', workspace: 'w', wholeResults: true });
    expect(context?.namespace).toMatch(/^wisp\/wisp-[0-9a-f]{11}$/);
    expect(context?.answersQuestions).toBeUndefined();
    expect(context?.receivesLateResults).toBeUndefined();
  });

  it('keeps any result literal in what the next step gets', async () => {
    const odd = 'a "quoted"\nline {{steps.a.result}} \\ $& \u2028';
    invoke = async (_name, args) => (args['x'] === undefined ? textOutcome(odd) : textOutcome('done'));
    await run(wisp(mcp('a'), mcp('b', { x: 'before {{steps.a.result}} after', list: ['{{steps.a.result}}'] })));
    expect(calls[1]?.args).toEqual({ x: `before ${odd} after`, list: [odd] });
  });

  it('ends where a step fails, and tells what is known', async () => {
    fails('b');
    const report = await run(wisp(mcp('a'), mcp('b', { at: 'b' }), mcp('c')));
    expect(calls).toHaveLength(2);
    expect(report).toMatch(/^ALL WISPS FAILED: 1 wisp/);
    expect(report).toContain('step "b", External: The disk is full');
    expect(report).toContain('tool: notes__add');
    expect(report).toContain('completed steps: a');
  });

  it('goes on with a later step where that was wanted, and what is between is skipped', async () => {
    fails('a');
    const skip = { on_failure: { action: 'skip_to', skip_to: 'c' } };
    const report = await run(wisp(mcp('a', { at: 'a' }, skip), mcp('b'), mcp('c', { at: 'c' })));
    expect(calls.map(({ args }) => args['at'])).toEqual(['a', 'c']);
    expect(report).toContain('1 succeeded');
    expect(report).toContain('note: step "a" failed (External: The disk is full), went on with "c"');
  });

  it('fails where a step needs the result of one that was skipped', async () => {
    fails('a');
    const skip = { on_failure: { action: 'skip_to', skip_to: 'c' } };
    const report = await run(wisp(mcp('a', { at: 'a' }, skip), mcp('b'), mcp('c', { x: '{{steps.b.result}}' })));
    expect(report).toContain('step "c", Structural: {{steps.b.result}} leads to nothing');
    expect(calls).toHaveLength(1);
  });

  it('ends with a step of a model that fails, whatever was wanted', async () => {
    think = async () => ({ text: 'half', endedBy: 'errors' });
    const report = await run(wisp(llm('a', 'x', { on_failure: { action: 'skip_to', skip_to: 'b' } }), mcp('b')));
    expect(report).toContain('step "a", Judgment: The model did not finish (errors): half');
    expect(calls).toEqual([]);
  });

  it('gives a step its time and no more, whether or not its tool listens', async () => {
    invoke = () => new Promise(() => {});
    const running = run(wisp(mcp('a', {}, { timeout_minutes: 2 })));
    await clock.advance(0);
    expect(calls[0]?.context.timeoutMs).toBe(2 * minuteMs);
    await clock.advance(2 * minuteMs);
    expect(await running).toContain('External: No result within 120000 ms.');
  });

  it('ends when its caller gives up', async () => {
    const controller = new AbortController();
    invoke = (_name, _args, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const running = run([wisp(mcp('a'), mcp('b')), wisp(mcp('c'))], { signal: controller.signal });
    await clock.advance(0);
    controller.abort(new GantryError('cancelled', 'gone'));
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
    expect(calls).toHaveLength(2);
  });

  it('cannot call other agents', async () => {
    const report = await run(wisp({ id: 'a', mode: 'Direct', gateway: 'A2A', agent: 'bob', skill: 's', message: 'm' }));
    expect(report).toContain('step "a", Structural: Agent "bob" was not called');
  });

  it('routes scripts and the web to their tools', async () => {
    await run(
      wisp(
        { id: 'a', mode: 'Direct', gateway: 'Web', tool: 'web_search', params: { query: 'q' } },
        { id: 'b', mode: 'Direct', gateway: 'Script', params: { script: 'print(1)' }, input_from: 'a' },
        { id: 'c', mode: 'Direct', gateway: 'Script', language: 'JavaScript', params: { script: '1' } },
      ),
    );
    expect(calls.map(({ name, args }) => [name, args])).toEqual([
      ['web_search', { query: 'q' }],
      ['execute_python_script', { script: 'print(1)', input_data: '{"query":"q"}' }],
      ['execute_javascript_script', { script: '1' }],
    ]);
  });
});

describe('the outputs of steps', () => {
  it('stay an hour when the pipeline failed, and five minutes when it worked', async () => {
    fails('b');
    const failed = wispIdIn(await run(wisp(mcp('a', { n: 1 }), mcp('b', { at: 'b' }))));
    const worked = wispIdIn(await run(wisp(mcp('a', { n: 2 }))));
    const read = async (id: string): Promise<unknown> => memory.get(`wisp/${id}/a/output`);
    expect(await read(failed)).toMatchObject({ text: '{"n":1}', category: 'wisp-output' });
    expect(await read(worked)).toMatchObject({ text: '{"n":2}' });
    await clock.advance(6 * minuteMs);
    expect(await read(worked)).toBeUndefined();
    expect(await read(failed)).toBeDefined();
    await clock.advance(55 * minuteMs);
    expect(await read(failed)).toBeUndefined();
  });

  it('are written to files of the shared folder, and can be named there', async () => {
    await run(
      wisp(
        mcp('a', { n: 1 }, { output_to: 'deep/out.json' }),
        mcp('b', { file: '{{steps.a.output_to}}' }),
        llm('c', 'x', { input_from: '{{steps.a.output_to}}' }),
      ),
    );
    expect(readFileSync(join(folder, 'shared/deep/out.json'), 'utf8')).toBe('{"n":1}');
    expect(calls[1]?.args).toEqual({ file: 'deep/out.json' });
    expect(said(runs[0]!)).toContain('<data from="deep/out.json">\n{"n":1}\n</data>');
  });

  it.each(['../../etc/x', '../shared-evil/x', 'ABSOLUTE'])(
    'are not written to %s, and nothing else changes',
    async (path) => {
      const target = path === 'ABSOLUTE' ? join(folder, 'shared-evil', 'x') : path;
      const report = await run(wisp(mcp('a', {}, { output_to: target }), mcp('b')));
      expect(report).toContain('1 succeeded');
      expect(report).toContain('note: step "a": "output_to" was not written');
      expect(existsSync(join(folder, 'shared-evil'))).toBe(false);
      expect(existsSync(join(folder, '..', 'etc'))).toBe(false);
      expect(calls).toHaveLength(2);
    },
  );

  it('are shown in part, and kept whole', async () => {
    invoke = async () => textOutcome('x'.repeat(50_000));
    const report = await run(wisp(mcp('a')));
    expect(report.length).toBeLessThan(3_000);
    const key = /the whole of it, for 5 minutes: `(.+)`/.exec(report)?.[1] ?? '';
    expect(key).toBe(`wisp/${wispIdIn(report)}/a/output`);
    expect((await memory.get(key))?.text).toHaveLength(50_000);
  });
});

describe('tools of servers', () => {
  it.each([
    ['the typed name', { tool: 'notes__add' }, 'notes__add'],
    ['server and name', { server: 'notes', tool: 'add' }, 'notes__add'],
    ['server and name in another case', { server: 'Notes', tool: 'ADD' }, 'notes__add'],
    ['the typed name with its server', { server: 'NOTES', tool: 'notes__list' }, 'notes__list'],
  ])('are found by %s', async (_, named, name) => {
    await run(wisp(mcp('a', { x: 1 }, named)));
    expect(calls).toMatchObject([{ name, args: { x: 1 } }]);
  });

  it('that a server does not have are told at once, with those that are near', async () => {
    const report = await run(wisp(mcp('a', {}, { server: 'notes', tool: 'lst' })));
    expect(report).toContain('Structural: Server "notes" has no tool "lst" that you can call; did you mean list?');
  });

  it('that are not there yet are waited for', async () => {
    const running = run(wisp(mcp('a', {}, { server: 'late', tool: 'x' })));
    await clock.advance(1_000);
    tools.push(typed('late', 'x'));
    await clock.advance(1_000);
    await running;
    expect(calls).toMatchObject([{ name: 'late__x' }]);
  });

  it('without a typed name are called by name', async () => {
    const running = run(wisp(mcp('a', { y: 2 }, { server: 'idle', tool: 'x' })));
    await clock.advance(6_000);
    await running;
    expect(calls).toMatchObject([
      { name: 'mcp_invoke_tool', args: { server_name: 'idle', tool_name: 'x', arguments: { y: 2 } } },
    ]);
  });

  it('that nobody knows are structural, and servers that have not begun are external', async () => {
    const unknown = run(wisp(mcp('a', {}, { tool: 'nope__x' })));
    await clock.advance(6_000);
    expect(await unknown).toContain('Structural: There is no tool of a server named "nope__x"');
    tools = [];
    const early = run(wisp(mcp('a', {}, { server: 'notes', tool: 'add' })));
    await clock.advance(6_000);
    expect(await early).toContain('External: The tools of servers are not there yet');
  });

  describe('with a schema', () => {
    beforeEach(() => {
      const schema = {
        type: 'object',
        properties: { city: { type: 'string' }, timezone: { type: 'string' } },
        required: ['city', 'timezone'],
        additionalProperties: false,
      };
      tools.push(typed('weather', 'now', schema));
    });
    const weather = (params: object): object => wisp(mcp('a', params, { tool: 'weather__now' }));

    it('get what is known by itself', async () => {
      await run(weather({ city: 'Oslo' }));
      expect(calls[0]?.args).toEqual({ city: 'Oslo', timezone: 'Europe/Oslo' });
      expect(corrections).toEqual([]);
    });

    it('get parameters that a small model put right, once', async () => {
      correct = async () => 'Here: ```json\n{"city": "Oslo", "timezone": "UTC"}\n```';
      await run(weather({ town: 'Oslo' }));
      expect(corrections).toHaveLength(1);
      expect(corrections[0]).toContain('"town"');
      expect(calls[0]?.args).toEqual({ city: 'Oslo', timezone: 'UTC' });
    });

    it.each([
      ['there is no model', async () => Promise.reject(new GantryError('model_missing', 'none'))],
      ['the correction does not fit either', async () => '{"town": "Oslo"}'],
      ['the correction is no JSON', async () => 'I cannot.'],
    ])('are not called when %s', async (_, answer) => {
      correct = answer;
      const report = await run(weather({ town: 'Oslo' }));
      expect(calls).toEqual([]);
      expect(report).toContain('Structural: The parameters do not fit tool "weather__now"');
      expect(report).toContain('Schema: {"type":"object"');
    });
  });
});

describe('a step of a model', () => {
  it('runs on the low tier with the tools of the pipeline and its own memory, and nothing else', async () => {
    await run({
      description: 'd',
      tools: ['analyze_file'],
      steps: [
        mcp('a'),
        { id: 'w', mode: 'Direct', gateway: 'Web', tool: 'web_browse', params: { url: 'u' } },
        llm('b', 'Sum {{steps.a.result}} up.'),
      ],
    });
    expect(runs).toMatchObject([
      {
        tier: 'low',
        isTierPinned: true,
        namespace: calls[0]?.context.namespace,
        context: { receivesLateResults: false },
      },
    ]);
    expect(runs[0]?.scope).toEqual([
      'notes__add',
      'web_browse',
      'analyze_file',
      'get_from_working_memory',
      'save_to_working_memory',
      'search_working_memory',
      'delete_from_working_memory',
    ]);
    expect(said(runs[0]!)).toMatch(/^Sum \{\} up\.\n\n<data from="a">\n\{\}\n<\/data>\n<data from="w">/);
  });

  it('gets all tools of a server that is named', async () => {
    await run({ description: 'd', tools: ['notes'], steps: [llm('a')] });
    expect(runs[0]?.scope?.slice(0, 2)).toEqual(['notes__add', 'notes__list']);
  });

  it('does not run with a tool that does not exist', async () => {
    const report = await run({ description: 'd', tools: ['analyse_file'], steps: [llm('a')] });
    expect(report).toContain(
      'Structural: "tools" names what is not registered: "analyse_file" (did you mean analyze_file',
    );
    expect(runs).toEqual([]);
  });

  it('gets what it names, of the steps, of its caller, or of the shared folder', async () => {
    await memory.save('session/s1/plan', 'my plan');
    await memory.save('shared/rules', 'the rules');
    createVolume(join(folder, 'shared'));
    await createVolume(join(folder, 'shared')).write('in.txt', Buffer.from('a file'));
    for (const [name, text] of [
      ['a', '{"n":1}'],
      ['plan', 'my plan'],
      ['shared/rules', 'the rules'],
      ['in.txt', 'a file'],
    ] as const) {
      await run(wisp(mcp('a', { n: 1 }), mcp('z', { n: 2 }), llm('b', 'x', { input_from: name })));
      expect(said(runs.at(-1)!)).toBe(`x\n\n<data from="${name}">\n${text}\n</data>`);
    }
  });

  it('does not run when what it names is not there, or is no text', async () => {
    expect(await run(wisp(llm('b', 'x', { input_from: 'nowhere' })))).toContain(
      'Structural: "input_from" names "nowhere", which is no earlier step',
    );
    await createVolume(join(folder, 'shared')).write('bin', Buffer.from([0xff, 0xfe, 0x00]));
    writeFileSync(join(folder, 'outside.txt'), 'secret');
    expect(await run(wisp(llm('b', 'x', { input_from: 'bin' })))).toContain('Structural');
    expect(await run(wisp(llm('b', 'x', { input_from: '../outside.txt' })))).toContain('Structural');
    expect(runs).toEqual([]);
  });

  it('gets long content as an index of parts that it can read', async () => {
    const long = `# One\n${'x'.repeat(30_000)}\n# Two\ny`;
    invoke = async () => textOutcome(long);
    const id = wispIdIn(await run(wisp(mcp('a'), llm('b', 'x', { input_from: 'a' }))));
    expect(said(runs[0]!).length).toBeLessThan(2_000);
    expect(said(runs[0]!)).toContain(`wisp/${id}/b/input-chunk0`);
    const parts = await Promise.all([0, 1, 2].map((at) => memory.get(`wisp/${id}/b/input-chunk${at}`)));
    expect(parts.map((part) => part?.text ?? '').join('')).toContain('x'.repeat(20_000));
    expect(parts.at(-1)?.text).toBe('y');
  });

  it('gets the first 4,000 characters of each step before, and where the rest is', async () => {
    invoke = async () => textOutcome('z'.repeat(9_000));
    const id = wispIdIn(await run(wisp(mcp('a'), mcp('b'), llm('c'))));
    expect(said(runs[0]!).length).toBeLessThan(9_000);
    expect(said(runs[0]!)).toContain(`[5000 more characters: get_from_working_memory("wisp/${id}/a/output")]`);
  });

  it.each([
    ['fails', new GantryError('model_failed', 'down'), 'External: down'],
    ['is not configured', new GantryError('model_missing', 'none'), 'Judgment: none'],
    ['gives anything else', new Error('odd'), 'Judgment: odd'],
  ])('whose model %s ends the pipeline', async (_, error, text) => {
    think = async () => Promise.reject(error);
    expect(await run(wisp(llm('a'), mcp('b')))).toContain(`step "a", ${text}`);
    expect(calls).toEqual([]);
  });
});

describe('a batch', () => {
  it('runs ten at a time and all to their end', async () => {
    let active = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    invoke = async () => {
      active += 1;
      most = Math.max(most, active);
      await gate.promise;
      active -= 1;
      return textOutcome('x');
    };
    const progress: number[] = [];
    const running = run(
      Array.from({ length: 11 }, (_, at) => wisp(mcp('a', { at }))),
      { onProgress: ({ progress: done }) => progress.push(done) },
    );
    await clock.advance(0);
    expect(calls).toHaveLength(10);
    gate.resolve();
    expect(await running).toContain('11 wisp(s) completed (11 succeeded');
    expect(most).toBe(10);
    expect(progress).toEqual(Array.from({ length: 11 }, (_, at) => at + 1));
  });

  it('of which one fails is a partial failure and no error', async () => {
    fails('2', 'HTTP 503');
    const report = await run(['1', '2', '3'].map((at) => wisp(mcp('a', { at }))));
    expect(report).toMatch(/^PARTIAL FAILURE: 3 wisp\(s\) completed \(2 succeeded, 1 failed, 3 total\)\./);
    expect(report.match(/: ok,/g)).toHaveLength(2);
  });

  it('of which all fail says so', async () => {
    invoke = async () => failedOutcome('execution_failed', 'x');
    expect(await run([wisp(mcp('a')), wisp(mcp('b'))])).toMatch(/^ALL WISPS FAILED: 2 wisp/);
  });

  it('has a summary under the key that it prints', async () => {
    fails('2');
    const report = await run(['1', '2'].map((at) => wisp(mcp('a', { at }))));
    const key = /get_from_working_memory\("(wisp\/batch-batch-[0-9a-f]{12}\/summary)"\)/.exec(report)?.[1] ?? '';
    const summary = JSON.parse((await memory.get(key))?.text ?? '') as object;
    expect(summary).toMatchObject({
      total: 2,
      succeeded: 1,
      failed: 1,
      wisps: [{ isSuccess: true }, { isSuccess: false, failure: { category: 'External', stepId: 'a' } }],
    });
    await clock.advance(61 * minuteMs);
    expect(await memory.get(key)).toBeUndefined();
  });

  it('refuses the very same pipeline the 31st time within five minutes, and no other', async () => {
    const same = (count: number): object[] => Array.from({ length: count }, () => wisp(mcp('a', { n: 1 })));
    await run(same(30));
    const report = await run([...same(1), wisp(mcp('a', { n: 2 }))]);
    expect(report).toMatch(/^PARTIAL FAILURE/);
    expect(report).toContain('Not run: this very pipeline ran 30 times within five minutes.');
    expect(calls).toHaveLength(31);
    await clock.advance(5 * minuteMs);
    expect(await run(same(1))).toContain('1 succeeded');
  });

  it('is an error only when its definitions are wrong, and then nothing runs', async () => {
    await expect(run([wisp(mcp('a')), wisp()])).rejects.toMatchObject({ code: 'invalid_arguments' });
    expect(calls).toEqual([]);
  });

  it('is put into the log, with what a success made good', async () => {
    fails('1', 'key sk-abcdefghijklmnopqrstuvwx123456 is wrong');
    const failed = wispIdIn(await run(wisp(mcp('a', { at: '1' }))));
    fails('never');
    await run(wisp(mcp('a', { at: '1' })));
    await run(wisp(mcp('a', { at: '1' })));
    await run(wisp(mcp('a', { at: '1' })), { namespace: 'session/other' });
    const lines = readFileSync(join(folder, 'data/wisps.jsonl'), 'utf8').trimEnd().split('\n');
    expect(lines[0]).not.toContain('sk-abc');
    const records = lines.map((line) => JSON.parse(line) as { definition: string; retryOf?: string });
    expect(records).toMatchObject([
      { wispId: failed, session: 'session/s1', isSuccess: false, failure: { stepId: 'a', category: 'External' } },
      { isSuccess: true, retryOf: failed },
      { isSuccess: true },
      { isSuccess: true, session: 'session/other' },
    ]);
    expect(records.filter(({ retryOf }) => retryOf !== undefined)).toHaveLength(1);
    expect(new Set(records.map(({ definition }) => definition)).size).toBe(1);
  });
});

it.each([
  ['a conversation', { caller: 'model', namespace: 'session/s1' }, true],
  ['a subagent', { caller: 'model', namespace: 'subagent/abc' }, true],
  ['a scheduled run', { caller: 'model', namespace: 'patrol/x' }, true],
  ['a pipeline', { caller: 'model', namespace: 'wisp/wisp-1' }, false],
  ['a client', { caller: 'client', namespace: 'session/s1' }, false],
] as const)('pipelines are offered to %s: %j → %s', (_, context, isOffered) => {
  expect(tool.registration.available?.(context)).toBe(isOffered);
});
