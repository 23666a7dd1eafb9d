import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import type { TurnCall } from '../../memory/conversation-turn.ts';
import type { MemoryRecord, WorkingMemory } from '../../memory/working-memory.ts';
import { createWorkingMemory } from '../../memory/working-memory.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../store/store.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { makeInvoker, registryOf } from '../../testing/make-invoker.ts';
import { testKeyring } from '../../testing/test-keyring.ts';
import type { CallContext, Progress } from '../../tool/context.ts';
import { createOpaqueIds } from '../../tool/opaque-ids.ts';
import type { Tool } from '../../tool/executor.ts';
import { outcomeText } from '../../tool/outcome-text.ts';
import { textOutcome } from '../../tool/outcome.ts';
import { toRegistration } from '../../tool/registration.ts';
import type { LoopResult, LoopRun } from '../loop/loop-run.ts';
import { mayWorkWith } from './worker-scope.ts';
import { workerTool } from './worker-tool.ts';
import type { Workers } from './workers.ts';
import { createWorkers } from './workers.ts';

const minuteMs = 60_000;
let clock: FakeClock;
let store: Store;
let memory: WorkingMemory;
let runs: LoopRun[];
let released: string[];
let answer: (run: LoopRun) => Promise<Partial<LoopResult>>;
let workers: Workers;
let tool: Tool;

const toolOf = (name: string, source: string, target?: { readonly server: string; readonly tool: string }): Tool => ({
  registration: toRegistration({ name, description: 'd', source, target }),
  executor: { execute: async () => textOutcome('') },
});
const typed = (server: string, name: string): Tool =>
  toolOf(`${server}__${name}`, `mcp:${server}`, { server, tool: name });
const tools = [
  typed('calendar', 'list'),
  typed('calendar', 'delete'),
  typed('mail', 'list'),
  toolOf('mcp_invoke_tool', 'mcp:management'),
  toolOf('mcp_answer', 'mcp:management'),
  toolOf('spawn_wisps', 'wisp'),
  toolOf('save_to_working_memory', 'memory'),
  toolOf('file_read', 'files'),
  toolOf('report_progress', 'subagent-report'),
];
const asked = ([message]: LoopRun['messages']): string => (typeof message?.content === 'string' ? message.content : '');
const untilAborted = ({ signal }: LoopRun): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

beforeEach(async () => {
  clock = fakeClock();
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  memory = createWorkingMemory({ keyValue: store.keyValue<MemoryRecord>('memory'), clock, log: silentLog });
  runs = [];
  released = [];
  answer = async ({ messages }) => ({ text: `did ${asked(messages)}` });
  workers = createWorkers({
    runLoop: async (run) => {
      runs.push(run);
      const { text = '', ...rest } = await answer(run);
      const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 };
      return { steps: [], endedBy: 'answer', tier: 'low', model: 'm', usage, ...rest, text };
    },
    callable: {
      for: () => ({ tools: tools.map(({ registration }) => registration) }),
      find: (name) => tools.find(({ registration }) => registration.name === name),
    },
    servers: () => ['calendar', 'mail'],
    toolsOf: (server) => tools.filter(({ registration }) => registration.target?.server === server),
    memory,
    holdings: { releaseQuestions: async (namespace) => void released.push(namespace) },
    today: async () => 'Today is a day.',
    clock,
    log: silentLog,
    newId,
    maxConcurrent: 5,
  });
  tool = workerTool(workers);
});
afterEach(async () => {
  await memory[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

const ask = async (definitions: unknown, more: Partial<CallContext> = {}): Promise<string> =>
  outcomeText(
    await makeInvoker(registryOf(tool), { clock }).invoke(
      { name: 'spawn_workers', arguments: { definitions } as never },
      { caller: 'model', namespace: 'session/s1', ...more },
    ),
  );
interface Report {
  readonly [field: string]: unknown;
  readonly taskId: string;
  readonly resultKey: string;
}
const reports = async (definitions: unknown, more?: Partial<CallContext>): Promise<Report[]> =>
  JSON.parse((await ask(definitions, more)).split('\n').slice(1).join('\n')) as Report[];
const task = (description: string, more: object = {}): object => ({ description, ...more });

describe('a worker', () => {
  it('does its task on the low tier in few rounds, in a namespace of its own, and never moves up', async () => {
    const [report] = await reports([task('count tables', { context: 'for a restaurant' })]);
    expect(report?.taskId).toMatch(/^[0-9a-f]{12}$/);
    const [run] = runs;
    expect(run).toMatchObject({
      namespace: `worker/${report?.taskId}`,
      tier: 'low',
      isTierPinned: true,
      maxToolIterations: 12,
      messages: [{ role: 'user', content: 'count tables' }],
      context: { receivesLateResults: false },
    });
    expect(run?.systemTail?.()).toBe('Today is a day.\n\n# Background\n\nfor a restaurant');
    expect(run?.scope).toBeUndefined();
    expect(released).toEqual([run?.namespace]);
  });

  it('knows the files and messages that its task names by ids of the turn', async () => {
    const ids = createOpaqueIds();
    ids.issue('media', 'attachments/a.png');
    await ask([task('look at media_1')], { ids });
    expect(runs[0]?.context?.ids).toBe(ids);
    expect(asked(runs[0]!.messages)).toContain('- media_1: `attachments/a.png`');
  });

  it('has tools of servers, pipelines, its memory and files, and delegates no further', () => {
    const offered = [
      ...tools,
      toolOf('spawn_subagent', 'subagent'),
      toolOf('spawn_workers', 'worker'),
      toolOf('web_search', 'web'),
      toolOf('mcp_register_server', 'mcp:management'),
      toolOf('schedule_task', 'scheduling'),
    ];
    const given = offered.map(({ registration }) => registration).filter(mayWorkWith);
    expect(given.map(({ name }) => name)).toEqual(tools.map(({ registration }) => registration.name));
  });

  it('keeps its result for four hours under a key that the caller is given, and shows the beginning', async () => {
    answer = async ({ namespace }) => {
      await memory.save(`${namespace}/ada`, 'free at ten');
      await memory.stash({ namespace, key: 'c0', text: 'chunk', category: 'tool-result', ttlMs: minuteMs });
      return { text: 'x'.repeat(3_000) };
    };
    const [report] = await reports([task('look')]);
    expect(report).toMatchObject({
      isSuccess: true,
      resultKey: `worker/${report?.taskId}/result`,
      factsRecorded: 1,
      blocked: false,
      convergedPatterns: [],
    });
    expect(String(report?.['result']).length).toBeLessThan(600);
    await clock.advance(239 * minuteMs);
    expect((await memory.get(report!.resultKey))?.text).toHaveLength(3_000);
  });

  it('writes its result where it was asked to, of what its caller may write', async () => {
    const both = await reports([task('one', { result_key: 'ada' }), task('two', { result_key: 'shared/bo' })]);
    expect(both.map(({ resultKey }) => resultKey)).toEqual(['session/s1/ada', 'shared/bo']);
    expect((await memory.get('session/s1/ada'))?.text).toBe('did one');
  });

  it('keeps its result under its own key when the one that was asked for is full', async () => {
    for (let n = 0; n < 50; n += 1) await memory.save(`session/s1/${n}`, 'x');
    const [report] = await reports([task('one', { result_key: 'ada' })]);
    expect(report).toMatchObject({ isSuccess: true, resultKey: `worker/${report?.taskId}/result` });
  });

  it.each([
    ['a key of somebody else', { result_key: 'session/s2/x' }, 'must lie below'],
    ['a namespace as a key', { result_key: 'shared' }, undefined],
    ['the root of what is shared', { result_key: 'shared/' }, 'must lie below'],
    ['a time of nothing', { timeout_minutes: 0 }, 'timeout_minutes'],
    ['a time of days', { timeout_minutes: 10_000 }, 'timeout_minutes'],
    ['an empty list of tools', { tools_allow: [] }, 'tools_allow'],
    ['a key it does not know', { tool_allow: ['x'] }, 'tool_allow'],
    ['no task', { description: '  ' }, 'description'],
  ])('is asked for with %s', async (_, more, problem) => {
    const text = await ask([task('one', more)]);
    if (problem === undefined) expect(text).toContain('1 succeeded');
    else expect(text).toContain(problem);
    expect(runs).toHaveLength(problem === undefined ? 1 : 0);
  });

  it('tells what calls worked again and again, and how long its tools took', async () => {
    const call = (name: string, args: object, status: TurnCall['status'] = 'done'): TurnCall => ({
      id: newId(),
      name,
      arguments: args as never,
      status,
      durationMs: 20,
    });
    answer = async () => ({
      text: 'done',
      steps: [
        { text: '', calls: [call('notes__read', { id: 1 }), call('notes__read', { id: 2 }), call('notes__list', {})] },
        {
          text: '',
          calls: [
            call('notes__read', { id: 3 }),
            call('notes__add', { a: 1, b: 2 }, 'failed'),
            call('notes__add', { a: 1, b: 2 }, 'failed'),
          ],
        },
      ],
    });
    expect(await reports([task('one')])).toMatchObject([
      { convergedPatterns: ['notes__read(id) ×3'], durations: { toolsMs: 120 } },
    ]);
  });

  it.each([
    [
      'says that it cannot go on',
      async () => ({ text: 'BLOCKED: the calendar asks for a sign-in' }),
      { blocked: true, failureReason: 'the calendar asks for a sign-in' },
    ],
    [
      'comes to its last round',
      async () => ({ text: 'half', endedBy: 'iterations' as const }),
      { blocked: false, failureReason: 'it had not finished after 12 rounds of calls', result: 'half' },
    ],
    [
      'has no model',
      () => Promise.reject(new GantryError('model_failed', 'The model refused.')),
      { failureReason: 'The model refused.', resultKey: null },
    ],
  ])('fails when it %s', async (_, how, expected) => {
    answer = how;
    expect(await reports([task('one')])).toMatchObject([{ isSuccess: false, ...expected }]);
  });

  it('takes its time and no more, whether or not its tools listen', async () => {
    answer = () => new Promise(() => {});
    const running = reports([task('one', { timeout_minutes: 2 })]);
    await clock.advance(2 * minuteMs);
    expect(await running).toMatchObject([
      { isSuccess: false, failureReason: 'It timed out after 2 min.', durations: { totalMs: 2 * minuteMs } },
    ]);
    expect(released).toHaveLength(1);
  });
});

describe('a list of tools', () => {
  it('is all that the worker has of servers, and nothing leads around it', async () => {
    await reports([task('one', { tools_allow: ['CALENDAR.list', 'mail__list'] })]);
    expect(runs[0]?.scope?.toSorted()).toEqual(
      ['calendar__list', 'mail__list', 'mcp_answer', 'save_to_working_memory', 'file_read', 'report_progress'].sort(),
    );
  });

  it('may name all tools of a server', async () => {
    await reports([task('one', { tools_allow: ['calendar.*'] })]);
    expect(runs[0]?.scope).toEqual(expect.arrayContaining(['calendar__list', 'calendar__delete']));
    expect(runs[0]?.scope).not.toContain('mail__list');
  });

  it('that names no tool fails that worker only, and says what is near', async () => {
    const both = await reports([task('one', { tools_allow: ['calender.list'] }), task('two')]);
    expect(both).toMatchObject([
      {
        isSuccess: false,
        resultKey: null,
        failureReason: expect.stringMatching(
          /"calender\.list" \(did you mean calendar\.list\?\).*connected: calendar, mail/,
        ) as unknown,
      },
      { isSuccess: true },
    ]);
    expect(runs).toHaveLength(1);
  });
});

describe('a batch of workers', () => {
  it('runs five at a time, all to their end, in the order of the definitions', async () => {
    let running = 0;
    let most = 0;
    const goOn = Promise.withResolvers<void>();
    answer = async ({ messages }) => {
      running += 1;
      most = Math.max(most, running);
      if (most === 5) goOn.resolve();
      await goOn.promise;
      running -= 1;
      return { text: asked(messages) };
    };
    const all = await reports(Array.from({ length: 12 }, (_, n) => task(`n${n}`)));
    expect(most).toBe(5);
    expect(all.map(({ result }) => result)).toEqual(Array.from({ length: 12 }, (_, n) => `n${n}`));
  });

  it('of which some fail is told so, and is no error', async () => {
    answer = async ({ messages }) => {
      if (messages[0]?.content === 'bad') throw new GantryError('model_failed', 'no');
      return { text: 'ok' };
    };
    expect(await ask([task('good'), task('bad')])).toMatch(
      /^PARTIAL FAILURE: 2 worker\(s\) ended \(1 succeeded, 1 failed\)/,
    );
    expect(await ask([task('bad')])).toMatch(/^ALL WORKERS FAILED: /);
    expect(await ask([task('good')])).toMatch(/^1 worker\(s\) ended/);
  });

  it.each([
    ['none', []],
    ['too many', Array.from({ length: 21 }, () => task('x'))],
    ['two results under one key', [task('one', { result_key: 'k' }), task('two', { result_key: 'K' })]],
    ['what is no definition', ['one']],
  ])('with %s is refused before anything runs', async (_, definitions) => {
    expect(await ask(definitions)).toMatch(/definitions|two workers/);
    expect(runs).toEqual([]);
  });

  it('may come as a text, as weak models send it', async () => {
    expect(await ask(JSON.stringify([task('one')]))).toContain('1 succeeded');
  });

  it('ends when its caller gives up', async () => {
    answer = untilAborted;
    const left = new AbortController();
    const one = {
      description: 'one',
      background: undefined,
      resultKey: undefined,
      timeoutMs: minuteMs,
      toolsAllow: undefined,
    };
    const running = workers.run(
      Array.from({ length: 8 }, () => one),
      { caller: 'model', namespace: 'session/s1', signal: left.signal },
    );
    await clock.advance(0);
    left.abort(new GantryError('cancelled', 'left'));
    await expect(running).rejects.toThrow('left');
    await clock.advance(0);
    expect(runs.map(({ signal }) => signal.aborted)).toEqual(Array.from({ length: 5 }, () => true));
  });

  it('passes reports on as progress, twenty of each worker, and none of one that has ended', async () => {
    const heard: Progress[] = [];
    let refused: unknown;
    answer = async ({ namespace }) => {
      for (let n = 0; n < 21; n += 1)
        await workers.report(namespace, `step ${n}\n[Notice]`).catch((error: unknown) => (refused = error));
      return { text: 'ok' };
    };
    await ask([task('count tables')], { onProgress: (progress) => void heard.push(progress) });
    expect(heard).toHaveLength(21);
    expect(heard[0]).toEqual({ progress: 0, total: 1, message: 'count tables: step 0 (Notice)' });
    expect(heard.at(-1)).toEqual({ progress: 1, total: 1, message: 'count tables' });
    expect(refused).toMatchObject({ code: 'limit_reached' });
    await expect(workers.report(runs[0]!.namespace, 'late')).rejects.toMatchObject({ code: 'task_unknown' });
  });
});

it.each([
  ['a conversation', { caller: 'model', namespace: 'session/s1' }, true],
  ['a subagent', { caller: 'model', namespace: 'subagent/abc' }, true],
  ['a scheduled run', { caller: 'model', namespace: 'patrol/news' }, true],
  ['an operator', { caller: 'operator' }, true],
  ['a worker', { caller: 'model', namespace: 'worker/abc' }, false],
  ['a pipeline', { caller: 'model', namespace: 'wisp/abc' }, false],
  ['a client', { caller: 'client', namespace: 'client/x' }, false],
] as const)('the tool for workers is offered to %s: %s', (_, context, isOffered) => {
  expect(tool.registration.available?.(context)).toBe(isOffered);
});
