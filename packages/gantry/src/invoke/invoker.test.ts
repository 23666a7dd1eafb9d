import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import type { CallContext } from '../tool/context.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { PreparedCall, Tool, ToolExecutor } from '../tool/executor.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { Outcome } from '../tool/outcome.ts';
import { textOutcome } from '../tool/outcome.ts';
import { emptyInputSchema, toRegistration } from '../tool/registration.ts';

const model: CallContext = { caller: 'model' };

const toolOf = (
  execute: ToolExecutor['execute'],
  more: Partial<ToolExecutor> & { inputSchema?: JsonObject } = {},
): Tool => {
  const { inputSchema = emptyInputSchema, ...executor } = more;
  return {
    registration: toRegistration({ name: 't', description: 'd', source: 'local', inputSchema }),
    executor: { execute, ...executor },
  };
};
const throwing = (thrown: unknown): Tool => toolOf(() => Promise.reject(thrown));

describe('looking up', () => {
  it('answers an unknown name with the nearest names', async () => {
    const tool = defineTool({ name: 'fs_read', description: 'Reads.', execute: () => '' });
    expect(await makeInvoker(registryOf(tool)).invoke({ name: 'fs_raed' }, model)).toMatchObject({
      status: 'failed',
      failure: { code: 'tool_not_found', retry: 'never', message: expect.stringContaining('Did you mean fs_read?') },
    });
  });

  it('names only tools that this caller may call', async () => {
    const tool = defineTool({ name: 'secret_tool', description: 'd', execute: () => '' });
    const invoker = makeInvoker(registryOf(tool), { lookUp: () => undefined, callableNames: () => [] });
    const outcome = await invoker.invoke({ name: 'secret_tol' }, model);
    expect(JSON.stringify(outcome)).not.toContain('secret_tool');
  });
});

it.each(['root', 'toString', undefined])('refuses the kind of caller %s, naming those there are', async (caller) => {
  const tool = defineTool({ name: 't', description: 'd', execute: () => '' });
  await expect(
    makeInvoker(registryOf(tool)).invoke({ name: 't' }, { caller: caller as 'model' }),
  ).rejects.toMatchObject({
    code: 'usage',
    message: `There is no caller "${caller}"; known: model, client, passthrough, operator.`,
  });
});

describe('arguments', () => {
  const seen: unknown[] = [];
  const echo = defineTool({
    name: 't',
    description: 'd',
    input: z.strictObject({ n: z.number(), tags: z.array(z.string()).optional() }),
    execute: (args) => {
      seen.push(args);
      return 'ok';
    },
  });
  const remote = toolOf(
    async (call) => {
      seen.push(call.arguments);
      return textOutcome('ok');
    },
    {
      inputSchema: { type: 'object', properties: { n: { type: 'integer' }, tags: { type: 'array' } }, required: ['n'] },
    },
  );

  it.each<[string, string | JsonObject, unknown]>([
    ['an object', { n: 1 }, { n: 1 }],
    ['JSON text', '{"n":1}', { n: 1 }],
    ['JSON text encoded twice', JSON.stringify('{"n":1}'), { n: 1 }],
    ['a number as text', { n: '5' }, { n: 5 }],
    ['a list as text', { n: 1, tags: '["a"]' }, { n: 1, tags: ['a'] }],
    ['null for an optional key', { n: 1, tags: null }, { n: 1 }],
  ])('reach a tool with its own schema and one with JSON Schema alike, from %s', async (_what, args, expected) => {
    for (const tool of [echo, remote]) {
      seen.length = 0;
      expect(await makeInvoker(registryOf(tool)).invoke({ name: 't', arguments: args }, model)).toMatchObject({
        status: 'done',
      });
      expect(seen).toEqual([expected]);
    }
  });

  it.each<[string, string | JsonObject, RegExp]>([
    ['text that is no JSON', 'n: 1', /not called: .*n: 1/],
    ['a missing key', {}, /n/],
    ['an unknown key', { n: 1, tagz: [] }, /tagz/],
    ['a value that cannot be converted', { n: '12abc' }, /12abc|number/],
  ])('are refused with what to send: %s', async (_what, args, message) => {
    seen.length = 0;
    const outcome = await makeInvoker(registryOf(echo)).invoke({ name: 't', arguments: args }, model);
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: { code: 'invalid_arguments', retry: 'never', message: expect.stringMatching(message) },
    });
    expect(seen).toEqual([]);
  });

  it('go to a passed-through server as they are, unchecked', async () => {
    seen.length = 0;
    await makeInvoker(registryOf(remote)).invoke(
      { name: 't', arguments: { n: 'x', odd: null } },
      { caller: 'passthrough' },
    );
    expect(seen).toEqual([{ n: 'x', odd: null }]);
  });

  it('may be named like members of every object', async () => {
    const inputSchema = {
      type: 'object',
      properties: { constructor: { type: 'integer' }, toString: { type: 'boolean' }, valueOf: { type: 'string' } },
      required: ['constructor'],
      additionalProperties: false,
    };
    seen.length = 0;
    const tool = toolOf(async (call) => (seen.push(call.arguments), textOutcome('ok')), { inputSchema });
    const invoker = makeInvoker(registryOf(tool));
    const args = '{"constructor":"5","toString":"true","valueOf":null}';
    expect(await invoker.invoke({ name: 't', arguments: args }, model)).toMatchObject({ status: 'done' });
    expect(Object.entries(seen[0] as object)).toEqual([
      ['constructor', 5],
      ['toString', true],
    ]);
    const told = async (sent: string): Promise<string> =>
      JSON.stringify(await invoker.invoke({ name: 't', arguments: sent }, model));
    expect(await told('{}')).toContain('\\"constructor\\" is missing');
    expect(await told('{"constructor":1,"hasOwnProperty":1}')).toContain('\\"hasOwnProperty\\" is not a known key');
    expect(await told('{"constructor":1,"__proto__":{"x":1}}')).toContain('__proto__');
    expect(seen).toHaveLength(1);
  });

  it('that are absent are none', async () => {
    const calls: PreparedCall[] = [];
    const tool = toolOf(async (call) => (calls.push(call), textOutcome('')));
    await makeInvoker(registryOf(tool), { newId: () => 'id-1' }).invoke({ name: 't' }, model);
    expect(calls[0]).toMatchObject({ id: 'id-1', name: 't', arguments: {} });
  });
});

describe('how a call ends', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'hi'],
    ['no parts', { status: 'done' }],
    ['a failure without words', { status: 'failed', failure: {} }],
    ['a failure whose report has no parts', { status: 'failed', failure: { message: 'm', reported: {} } }],
    ['a parked call without parts', { status: 'parked', handle: { kind: 'task', id: 'a', expiresAt: 'b' } }],
    ['a parked call that nothing can find', { status: 'parked', handle: { kind: 'task' }, parts: [] }],
    ['a status of its own', { status: 'fine', parts: [] }],
  ])('fails when the executor gives back %s in place of an outcome', async (_what, value) => {
    const tool = toolOf(async () => value as Outcome);
    for (const context of [model, { caller: 'operator' } as const])
      expect(await makeInvoker(registryOf(tool)).invoke({ name: 't' }, context)).toMatchObject({
        status: 'failed',
        failure: { code: 'execution_failed', message: expect.stringContaining('what it gave back is no outcome') },
      });
  });

  it('cuts what is thrown when it is very long', async () => {
    for (const thrown of [new Error('y'.repeat(5_000_000)), new GantryError('timeout', 'y'.repeat(5_000_000))]) {
      const outcome = await makeInvoker(registryOf(throwing(thrown))).invoke({ name: 't' }, model);
      expect(outcomeText(outcome)).toMatch(/y\n\[result truncated — 4980000 chars omitted\]$/);
    }
  });

  it.each<[string, (parts: unknown) => unknown]>([
    ['a result', (parts) => ({ status: 'done', parts })],
    [
      'a failure',
      (parts) => ({ status: 'failed', failure: { code: 'execution_failed', message: 'm', reported: { parts } } }),
    ],
    ['a parked call', (parts) => ({ status: 'parked', handle: { kind: 'task', id: 'a', expiresAt: 'b' }, parts })],
  ])('puts a text in the place of each part of %s that is none', async (_what, outcomeWith) => {
    const odd = [
      null,
      'x',
      {},
      { type: 'text', text: 5 },
      { type: 'image' },
      { type: 'resource_link' },
      { type: 'resource' },
    ];
    const known = [{ type: 'text', text: 'kept' }, { type: 'video' }];
    const tool = toolOf(async () => outcomeWith([...odd, ...known]) as Outcome);
    const outcome = await makeInvoker(registryOf(tool)).invoke({ name: 't' }, model);
    const none = { type: 'text', text: '(a part of the result is no content block)' };
    expect(outcome).toMatchObject(outcomeWith([...odd.map(() => none), ...known]) as object);
    expect(outcomeText(outcome)).toContain('kept\n[video content block]');
  });

  it.each<[string, unknown]>([
    ['no object', 5],
    ['no text', { media: [] }],
    ['no media', { text: 'x' }],
    ['media that are none', { text: 'x', media: [null] }],
    ['bytes in place of a name', { text: 'x', media: [{ mediaType: 'image/png', data: 'AAAA' }] }],
    ['a path that is no text', { text: 'x', media: [{ mediaType: 'image/png', path: 5 }] }],
  ])('fails when a context item has %s', async (_what, contextItem) => {
    const tool = toolOf(async () => ({ status: 'done', parts: [], contextItem }) as Outcome);
    expect(await makeInvoker(registryOf(tool)).invoke({ name: 't' }, model)).toMatchObject({
      status: 'failed',
      failure: { code: 'execution_failed', message: expect.stringContaining('it holds a context item without text') },
    });
  });

  it('keeps of a context item what it is, and neither bytes nor what could not be written', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const media = [{ mediaType: 'image/png', path: 'a.png', data: Buffer.from('x') }];
    const tool = toolOf(
      async () => ({ status: 'done', parts: [], contextItem: { text: 'x', media, cyclic } }) as Outcome,
    );
    expect(await makeInvoker(registryOf(tool)).invoke({ name: 't' }, model)).toEqual({
      status: 'done',
      parts: [],
      contextItem: { text: 'x', media: [{ mediaType: 'image/png', path: 'a.png' }] },
    });
  });

  it.each<[string, unknown, object]>([
    [
      'a time-out of its own',
      new GantryError('timeout', 'Too slow.'),
      { code: 'timeout', retry: 'later', message: 'Too slow.' },
    ],
    [
      'a platform time-out',
      new DOMException('took too long', 'TimeoutError'),
      { code: 'timeout', retry: 'later', message: 'took too long' },
    ],
    [
      'bad arguments',
      new GantryError('invalid_arguments', 'q is empty.'),
      { code: 'invalid_arguments', retry: 'never', message: 'q is empty.' },
    ],
    ['a path that is refused', new GantryError('path_refused', 'No.'), { code: 'invalid_arguments' }],
    ['a server nobody knows', new GantryError('server_unknown', 'No server.'), { code: 'tool_not_found' }],
    ['a sign-in', new GantryError('auth_required', 'Sign in.'), { code: 'auth_required', retry: 'never' }],
    ['anything else', new Error('disk on fire'), { code: 'execution_failed', retry: 'never', message: 'disk on fire' }],
    ['something that is no error', 'just text', { code: 'execution_failed', message: 'just text' }],
    ['nothing', undefined, { code: 'execution_failed' }],
  ])('is classified: %s', async (_what, thrown, failure) => {
    expect(await makeInvoker(registryOf(throwing(thrown))).invoke({ name: 't' }, model)).toMatchObject({
      status: 'failed',
      failure,
    });
  });

  it('loses secrets, stacks and folders on the way to a reader', async () => {
    const thrown = new Error(
      "ENOENT: no such file, open '/home/ada/private/notes.txt' with Authorization: Bearer abcdefghijklmnop",
    );
    const outcome = await makeInvoker(registryOf(throwing(thrown))).invoke({ name: 't' }, model);
    const text = JSON.stringify(outcome);
    expect(text).toContain('notes.txt');
    expect(text).not.toMatch(/ada|abcdefghijklmnop|at .*\.ts/);
  });

  it('keeps a failure that the tool reported, as the tool said it', async () => {
    const failed = {
      status: 'failed',
      failure: { code: 'execution_failed', message: 'no order', retry: 'never', reported: { parts: [] } },
    } as const;
    expect(await makeInvoker(registryOf(toolOf(async () => failed))).invoke({ name: 't' }, model)).toEqual(failed);
  });
});

describe('deadlines', () => {
  const hanging = (limits: Partial<ToolExecutor> = {}): { tool: Tool; signals: AbortSignal[] } => {
    const signals: AbortSignal[] = [];
    const tool = toolOf((_call, context) => {
      signals.push(context.signal as AbortSignal);
      return new Promise(() => {});
    }, limits);
    return { tool, signals };
  };

  it.each<[string, Partial<ToolExecutor>, Partial<CallContext>, number]>([
    ['the tool’s own limit', { timeoutMs: 2000 }, {}, 2000],
    ['a shorter one that the caller asks for', { timeoutMs: 2000 }, { timeoutMs: 500 }, 500],
    ['a longer one that the caller asks for', { timeoutMs: 2000 }, { timeoutMs: 9000 }, 9000],
    ['the limit of all tools', {}, {}, 300_000],
    ['never more than that', { timeoutMs: 999_999 }, { timeoutMs: 999_999 }, 300_000],
  ])('end a call that hangs at %s, even when it ignores its signal', async (_what, limits, context, atMs) => {
    const clock = fakeClock();
    const { tool, signals } = hanging(limits);
    const ended = makeInvoker(registryOf(tool), { clock }).invoke({ name: 't' }, { ...model, ...context });
    await clock.advance(atMs - 1);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    expect(await ended).toMatchObject({
      status: 'failed',
      failure: { code: 'timeout', retry: 'later', message: expect.stringContaining(`${atMs} ms`) },
    });
    expect(signals[0]?.aborted).toBe(true);
  });

  it('keep the process alive while the call runs', async () => {
    const clock = fakeClock();
    const ended = Promise.withResolvers<void>();
    const tool = toolOf(() => ended.promise.then(() => textOutcome('ok')));
    const call = makeInvoker(registryOf(tool), { clock }).invoke({ name: 't' }, model);
    await clock.advance(0);
    expect(clock.keepingAlive).toBe(1);
    ended.resolve();
    await call;
    expect(clock.keepingAlive).toBe(0);
  });

  it('leave no timer behind when the call ends in time', async () => {
    const clock = fakeClock();
    await makeInvoker(registryOf(toolOf(async () => textOutcome('quick'))), { clock }).invoke({ name: 't' }, model);
    expect(clock.pendingTimers).toBe(0);
  });

  it('are left to an executor that keeps the time itself', async () => {
    const clock = fakeClock();
    const tool = toolOf(async () => textOutcome(`timers ${clock.pendingTimers}`), { timeoutMs: 0 });
    expect(await makeInvoker(registryOf(tool), { clock }).invoke({ name: 't' }, model)).toMatchObject(
      textOutcome('timers 0'),
    );
  });
});

describe('cancelling', () => {
  it('ends the call at once and tells the tool', async () => {
    const controller = new AbortController();
    const started = Promise.withResolvers<AbortSignal>();
    const tool = toolOf((_call, context) => (started.resolve(context.signal as AbortSignal), new Promise(() => {})));
    const ended = makeInvoker(registryOf(tool)).invoke({ name: 't' }, { ...model, signal: controller.signal });
    const inner = await started.promise;
    controller.abort();
    expect(await ended).toMatchObject({
      status: 'failed',
      failure: { code: 'execution_failed', message: expect.stringContaining('cancelled') },
    });
    expect(inner.aborted).toBe(true);
  });

  it('before the start runs nothing', async () => {
    let ran = false;
    const tool = toolOf(async () => ((ran = true), textOutcome('')));
    const outcome = await makeInvoker(registryOf(tool)).invoke(
      { name: 't' },
      { ...model, signal: AbortSignal.abort() },
    );
    expect(outcome.status).toBe('failed');
    expect(ran).toBe(false);
  });

  it('by the stop of the gateway is thrown on, so that nobody takes it for an answer', async () => {
    const stopping = AbortSignal.abort(new GantryError('stopped', 'The gateway stops.'));
    await expect(
      makeInvoker(registryOf(toolOf(async () => textOutcome('')))).invoke(
        { name: 't' },
        { ...model, signal: stopping },
      ),
    ).rejects.toMatchObject({ code: 'stopped' });
  });

  it('by the stop of the gateway is thrown on whatever the tool makes of it', async () => {
    const stopping = new AbortController();
    const tool = toolOf(async () => {
      stopping.abort(new GantryError('stopped', 'The gateway stops.'));
      throw new TypeError('fetch failed');
    });
    const called = makeInvoker(registryOf(tool)).invoke({ name: 't' }, { ...model, signal: stopping.signal });
    await expect(called).rejects.toMatchObject({ code: 'stopped', message: 'The gateway stops.' });
  });

  // A part that a tool runs on was stopped or given up, which is no end of the caller.
  it.each([
    ['stopped', 'execution_failed'],
    ['cancelled', 'execution_failed'],
    ['timeout', 'timeout'],
  ] as const)('is only said to be %s by a tool that throws that, which has failed', async (code, failure) => {
    const tool = toolOf(() => Promise.reject(new GantryError(code, 'The browser has ended.')));
    for (const signal of [undefined, new AbortController().signal])
      expect(await makeInvoker(registryOf(tool)).invoke({ name: 't' }, { ...model, signal })).toMatchObject({
        status: 'failed',
        failure: { code: failure, message: 'The browser has ended.' },
      });
  });
});

it('takes no longer to find a tool among ten thousand', async () => {
  const tools = Array.from({ length: 10_000 }, (_, index) =>
    defineTool({ name: `tool_${index}`, description: 'd', execute: () => `${index}` }),
  );
  const invoker = makeInvoker(registryOf(...tools), {
    callableNames: () => {
      throw new Error('a call must not list the tools');
    },
  });
  expect(await invoker.invoke({ name: 'tool_9999' }, model)).toMatchObject(textOutcome('9999'));
});
