import { describe, expect, it } from 'vitest';
import { orAborted } from '../../kernel/abort.ts';
import { GantryError } from '../../kernel/errors.ts';
import { silentLog } from '../../kernel/log.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { testKeyring } from '../../testing/test-keyring.ts';
import type { Mailbox } from './mail/mailbox.ts';
import { createMailbox } from './mail/mailbox.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { OnAsked } from '../../tool/context.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { AskedRequest } from './asked-calls.ts';
import { createAskedCalls } from './asked-calls.ts';
import type { ClientCall, ProgressParams } from './call-tool.ts';

const sealing = {
  seal: (text: string, context: string) => `${context}|${text}`,
  open: (sealed: string, context: string) => {
    if (!sealed.startsWith(`${context}|`)) throw new GantryError('usage', 'sealed for another');
    return sealed.slice(context.length + 1);
  },
};
const never = new AbortController().signal;
const box = { method: 'elicitation/create', params: { message: 'Which box?' } };
const roots = { method: 'roots/list', params: {} };
type Begun = Pick<ClientCall, 'signal' | 'notify'> & { readonly onAsked: OnAsked };

/** Calls that ask as `run` says, and end with what it gives. */
const make = (run: (call: Begun) => Promise<unknown>, clock = fakeClock(), mailbox?: Mailbox) => {
  const calls = createAskedCalls({ clock, log: silentLog, sealing, mailbox });
  const begun: Begun[] = [];
  const serve = async (more: Partial<AskedRequest> = {}): Promise<JsonObject> =>
    (await calls.serve({
      client: 'alice',
      tool: 't',
      state: undefined,
      responses: {},
      signal: never,
      notify: () => {},
      begin: async (call) => {
        begun.push(call);
        const said = await run(call);
        return { result: { content: [{ type: 'text', text: JSON.stringify(said) }] }, outputSchema: undefined };
      },
      ...more,
    })) as unknown as JsonObject;
  return { clock, calls, serve, begun };
};
const textOf = (answer: JsonObject): string => JSON.stringify(answer['result']);
const ask =
  (...questions: readonly { method: string; params: JsonObject }[]) =>
  ({ onAsked }: Begun): Promise<unknown> =>
    Promise.all(questions.map((question) => onAsked(question, never)));

describe('a call in the middle of which its client is asked', () => {
  it('gives what is asked, and goes on with the answers', async () => {
    const { serve, begun } = make(ask(box, roots));
    const asked = await serve();
    expect(asked).toMatchObject({ resultType: 'input_required', inputRequests: { q1: box, q2: roots } });
    const responses = { q1: { action: 'accept', content: { box: 'left' } }, q2: { roots: [] } };
    expect(textOf(await serve({ state: asked['requestState'], responses }))).toContain('left');
    expect(begun).toHaveLength(1);
  });

  it('may ask again', async () => {
    const { serve } = make(async ({ onAsked }) => [await onAsked(box, never), await onAsked(box, never)]);
    const first = await serve();
    const second = await serve({ state: first['requestState'], responses: { q1: { action: 'decline' } } });
    expect(second).toMatchObject({ resultType: 'input_required', inputRequests: { q1: box } });
    const done = await serve({ state: second['requestState'], responses: { q1: { action: 'cancel' } } });
    expect(textOf(done)).toMatch(/decline.*cancel/);
  });

  it.each([
    ['an answer that was given already', {}, true],
    ['the state of another client', { client: 'bob' }, false],
    ['the state of another tool', { tool: 'u' }, false],
    ['a state of its own making', { state: 'gantry.asked.mcp/alice|x' }, false],
    ['a state that is none', { state: 7 }, false],
  ])('does not go on with %s', async (_what, more, isAnswered) => {
    const { serve } = make(ask(box));
    const { requestState: state } = await serve();
    if (isAnswered) await serve({ state, responses: { q1: { action: 'decline' } } });
    await expect(serve({ state, ...more })).rejects.toMatchObject({ code: -32_602 });
  });

  it('counts what the client leaves out as taken back', async () => {
    const { serve } = make(async ({ onAsked }) => [
      await onAsked(box, never),
      await onAsked(roots, never).catch((error: unknown) => String(error)),
    ]);
    const first = await serve();
    const second = await serve({ state: first['requestState'] });
    expect(textOf(await serve({ state: second['requestState'] }))).toMatch(/cancel.*gave none/);
  });

  it('tells its client of progress on the request that is open', async () => {
    const { serve } = make(async ({ onAsked, notify }) => {
      notify({ progressToken: 'a', progress: 1 });
      await onAsked(box, never);
      notify({ progressToken: 'a', progress: 2 });
    });
    const heard: [string, number][] = [];
    const hearing = (name: string) => ({
      notify: ({ progress }: ProgressParams) => void heard.push([name, progress]),
    });
    const { requestState: state } = await serve(hearing('first'));
    await serve({ state, ...hearing('second') });
    expect(heard).toEqual([
      ['first', 1],
      ['second', 2],
    ]);
  });

  it('is cancelled with the request that is open, and not when one has ended', async () => {
    const { serve, begun } = make(async ({ onAsked, signal }) => {
      await onAsked(box, never);
      return await orAborted(new Promise(() => {}), signal);
    });
    const [first, second] = [new AbortController(), new AbortController()];
    const { requestState: state } = await serve({ signal: first.signal });
    first.abort();
    expect(begun[0]?.signal.aborted).toBe(false);
    const serving = serve({ state, signal: second.signal });
    second.abort();
    await expect(serving).rejects.toMatchObject({ code: 'cancelled' });
    expect(begun[0]?.signal.aborted).toBe(true);
  });

  it('is cancelled when its client does not come back in a quarter of an hour', async () => {
    const { serve, begun, clock } = make(ask(box));
    const { requestState: state } = await serve();
    await clock.advance(15 * 60_000 - 1);
    expect(begun[0]?.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(begun[0]?.signal.aborted).toBe(true);
    await expect(serve({ state })).rejects.toMatchObject({ code: -32_602 });
  });

  it('is cancelled when the gateway stops', async () => {
    const { serve, begun, calls } = make(ask(box));
    await serve();
    await calls[Symbol.asyncDispose]();
    expect(begun[0]?.signal.aborted).toBe(true);
  });

  it('gives up the one that its client left the longest ago when too many wait, and none of others', async () => {
    const { serve, begun } = make(ask(box));
    await serve({ client: 'bob' });
    for (let count = 0; count < 50; count += 1) await serve();
    expect(begun.map(({ signal }) => signal.aborted)).not.toContain(true);
    expect(await serve()).toMatchObject({ resultType: 'input_required' });
    expect(begun.map(({ signal }) => signal.aborted).indexOf(true)).toBe(1);
    expect(begun.filter(({ signal }) => signal.aborted)).toHaveLength(1);
  });

  it('forgets a question that is taken back', async () => {
    const ending = new AbortController();
    const { serve } = make(async ({ onAsked }) => {
      const taken = onAsked(box, ending.signal).catch(() => 'taken back');
      ending.abort();
      return await taken;
    });
    expect(textOf(await serve())).toContain('taken back');
  });
});

describe('a call whose client comes back to another process', () => {
  const two = async (run: (call: Begun) => Promise<unknown>) => {
    const clock = fakeClock();
    const store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
    const letters = store.keyValue<string>('letters');
    const open = (): Mailbox => createMailbox({ sealing: store.secrets, letters, clock, log: silentLog });
    const [mail, otherMail] = [open(), open()];
    const here = make(run, clock, mail);
    const there = make(() => Promise.reject(new Error('no call is made here')), clock, otherMail);
    /** Moves time until it settles. */
    const until = async <T>(promise: Promise<T>): Promise<T> => {
      const over = Promise.withResolvers<boolean>();
      promise.then(
        () => over.resolve(true),
        () => over.resolve(true),
      );
      for (let step = 0; step < 200; step += 1)
        if (await Promise.race([over.promise, clock.advance(250)])) return await promise;
      throw new Error('it does not end');
    };
    const close = async (): Promise<void> => {
      for (const { calls } of [here, there]) await calls[Symbol.asyncDispose]();
      for (const box of [mail, otherMail]) await box[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    };
    return { clock, letters, here, there, mail, until, close, [Symbol.asyncDispose]: close };
  };
  const left = { q1: { action: 'accept', content: { box: 'left' } } };

  it('goes on where it is, and asks and answers there', async () => {
    await using both = await two(async ({ onAsked }) => [await onAsked(box, never), await onAsked(box, never)]);
    const { here, there, until } = both;
    const { requestState: first } = await here.serve();
    const second = await until(there.serve({ state: first, responses: left }));
    expect(second).toMatchObject({ resultType: 'input_required', inputRequests: { q1: box } });
    const done = await until(there.serve({ state: second['requestState'], responses: { q1: { action: 'decline' } } }));
    expect(textOf(done)).toMatch(/left.*decline/);
    expect([here.begun.length, there.begun.length]).toEqual([1, 0]);
  });

  it('leaves nothing in the store, and nothing to read in it meanwhile', async () => {
    await using both = await two(ask(box));
    const { here, there, clock, letters, until } = both;
    const { requestState: state } = await here.serve();
    const serving = there.serve({ state, responses: left });
    await clock.advance(1);
    const underway = (await letters.list('')).filter(({ key }) => !key.startsWith('there/'));
    expect(underway).toHaveLength(1);
    expect(JSON.stringify(underway)).not.toMatch(/left|alice/);
    await until(serving);
    expect((await letters.list('')).filter(({ key }) => !key.startsWith('there/'))).toEqual([]);
    await clock.advance(60_000);
    expect(await letters.list('')).toEqual([]);
    // What is left are the timers of nobody.
    expect(clock.pendingTimers).toBe(0);
  });

  it('is nothing to another client, and is answered once', async () => {
    await using both = await two(ask(box));
    const { here, there, until } = both;
    const { requestState: state } = await here.serve();
    await expect(until(there.serve({ state, client: 'bob' }))).rejects.toThrow('for another client');
    await expect(until(there.serve({ state, tool: 'u' }))).rejects.toThrow('not open any more');
    const twice = [there.serve({ state, responses: left }), there.serve({ state, responses: left })];
    const said = await until(Promise.allSettled(twice));
    expect(said.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('tells its client of progress, and gives errors as they are', async () => {
    await using both = await two(async ({ onAsked, notify }) => {
      await onAsked(box, never);
      notify({ progressToken: 'a', progress: 1 });
      notify({ progressToken: 'a', progress: 2 });
      throw new GantryError('execution_failed', 'no box', {
        details: { rpc: { code: -7, message: 'no box', data: 1 } },
      });
    });
    const { here, there, until } = both;
    const { requestState: state } = await here.serve();
    const heard: number[] = [];
    const serving = there.serve({ state, responses: left, notify: ({ progress }) => void heard.push(progress) });
    await expect(until(serving)).rejects.toMatchObject({ code: -7, message: 'no box', data: 1 });
    expect(heard).toEqual([1, 2]);
  });

  it('is cancelled when its client goes away from there', async () => {
    await using both = await two(async ({ onAsked, signal }) => {
      await onAsked(box, never);
      return await orAborted(new Promise(() => {}), signal);
    });
    const { here, there, until, clock } = both;
    const { requestState: state } = await here.serve();
    const leaving = new AbortController();
    const serving = there.serve({ state, responses: left, signal: leaving.signal });
    await clock.advance(500);
    expect(here.begun[0]?.signal.aborted).toBe(false);
    leaving.abort();
    await expect(until(serving)).rejects.toMatchObject({ code: 'cancelled' });
    await clock.advance(500);
    expect(here.begun[0]?.signal.aborted).toBe(true);
  });

  it('is said to be gone when its process is', async () => {
    await using both = await two(async ({ onAsked, signal }) => {
      await onAsked(box, never);
      return await orAborted(new Promise(() => {}), signal);
    });
    const { here, there, mail, until, clock } = both;
    const [first, second] = [await here.serve(), await here.serve()];
    const serving = there.serve({ state: first['requestState'], responses: left });
    await clock.advance(500);
    const startedMs = clock.nowMs();
    await mail[Symbol.asyncDispose]();
    await expect(until(serving)).rejects.toThrow('has ended');
    expect(clock.nowMs() - startedMs).toBeLessThan(15_000);
    const again = there.serve({ state: second['requestState'], responses: left });
    await expect(until(again)).rejects.toThrow('not open any more');
  });

  it('says so when a result is too large to be brought', async () => {
    await using both = await two(async ({ onAsked }) => {
      await onAsked(box, never);
      return 'x'.repeat(9 * 1024 * 1024);
    });
    const { here, there, until } = both;
    const { requestState: state } = await here.serve();
    await expect(until(there.serve({ state, responses: left }))).rejects.toThrow(/carried out.*8388608 characters/);
  });
});
