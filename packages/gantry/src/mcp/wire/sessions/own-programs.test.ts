import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { PassTarget, ProgramListener } from '../pass-port.ts';
import { createOwnPrograms } from './own-programs.ts';

const never = new AbortController().signal;

/** Programs that answer the handshake, and other requests when they are told to. */
const make = (answersHandshake = true, capabilities: JsonObject = {}) => {
  const clock = fakeClock();
  const programs = createOwnPrograms({ clock, log: silentLog });
  const started: { hears: ProgramListener; said: JsonObject[]; isOver: boolean }[] = [];
  const target = {
    name: 's',
    callTimeoutMs: 60_000,
    identity: 'one',
    mask: (text: string) => text,
    startProgram: async (hears: ProgramListener) => {
      const program = { hears, said: [] as JsonObject[], isOver: false };
      started.push(program);
      return {
        send: async (message: JsonObject) => {
          program.said.push(message);
          if (message['method'] === 'initialize' && answersHandshake)
            hears.message({ jsonrpc: '2.0', id: message['id'], result: { capabilities } });
        },
        [Symbol.asyncDispose]: async () => {
          program.isOver = true;
          hears.ended();
        },
      };
    },
  } as unknown as PassTarget;
  let names = 0;
  const lease = (client: string, session?: string) => {
    const clientInfo = { name: `c${(names += 1)}`, version: '1' };
    const says = { clientInfo, capabilities: { roots: {} }, logLevel: undefined };
    return programs.lease({ target, client, says, session }, never);
  };
  const leaseCall = (client: string, session?: string) => {
    const says = { clientInfo: {}, capabilities: { roots: {} }, logLevel: undefined };
    return programs.lease({ target, client, says, session, isForCall: true }, never);
  };
  return { clock, programs, started, lease, leaseCall, target };
};

describe('what a program asks outside of requests', () => {
  const ask = (id: number): JsonObject => ({ jsonrpc: '2.0', id, method: 'roots/list' });
  const setUp = async () => {
    const { lease, started } = make();
    const { session } = await lease('a', 'session');
    const [program] = started;
    const asked: { readonly id: unknown; readonly signal: AbortSignal; answer(result: JsonObject): void }[] = [];
    const answering = (): void =>
      session.answerAside?.(({ id }, signal) => {
        const { promise, resolve } = Promise.withResolvers<JsonObject>();
        asked.push({ id, signal, answer: resolve });
        return promise;
      });
    const said = (id: number): JsonObject[] => program?.said.filter((message) => message['id'] === id) ?? [];
    return { answering, asked, hear: (message: JsonObject) => program?.hears.message(message), said };
  };

  it('is refused where nobody answers it, and answered where somebody does', async () => {
    const { answering, asked, hear, said } = await setUp();
    hear(ask(1));
    expect(said(1)).toMatchObject([{ error: { code: -32_600 } }]);
    answering();
    hear(ask(2));
    asked[0]?.answer({ roots: [] });
    await expect.poll(() => said(2)).toEqual([{ jsonrpc: '2.0', id: 2, result: { roots: [] } }]);
  });

  it('is no more than fifty questions at a time, each under an id of its own', async () => {
    const { answering, asked, hear, said } = await setUp();
    answering();
    for (const id of [7, 7, 7]) hear(ask(id));
    expect([asked.length, said(7).length]).toEqual([1, 2]);
    for (let id = 100; id < 200; id += 1) hear(ask(id));
    expect(asked).toHaveLength(50);
    asked[0]?.answer({});
    await expect.poll(() => said(7)).toHaveLength(3);
    hear(ask(7));
    expect(asked).toHaveLength(51);
  });

  it('is not what a call has asked that was given up', async () => {
    const { lease, started } = make();
    const { session } = await lease('a', 'session');
    const asked: unknown[] = [];
    session.answerAside?.(async ({ id }) => ({ asked: asked.push(id) }));
    const call = session.request('tools/call', { name: 'a' });
    started[0]?.hears.message(ask(9));
    call.abandon();
    expect(asked).toEqual([]);
    expect(started[0]?.said.find(({ id }) => id === 9)).toMatchObject({ error: { code: -32_600 } });
  });

  it('can be taken back, which makes room for another and is not answered', async () => {
    const { answering, asked, hear, said } = await setUp();
    answering();
    for (let id = 1; id <= 50; id += 1) hear(ask(id));
    hear({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(asked[0]?.signal.aborted).toBe(true);
    hear(ask(51));
    expect(asked.at(-1)?.id).toBe(51);
    asked[0]?.answer({});
    await Promise.resolve();
    expect(said(1)).toEqual([]);
  });
});

describe('a program that runs for one client', () => {
  it('is another one when its server is started in another way', async () => {
    const { programs, started, target } = make();
    const says = { clientInfo: {}, capabilities: {}, logLevel: undefined };
    await programs.lease({ target, client: 'a', says }, never);
    await programs.lease({ target: { ...target, identity: 'other' }, client: 'a', says }, never);
    expect(started).toHaveLength(2);
  });

  it('is started once for requests that come at the same time', async () => {
    const { lease, started } = make();
    const [one, other] = await Promise.all([lease('a'), lease('a')]);
    expect(one.session).toBe(other.session);
    await lease('b');
    expect(started).toHaveLength(2);
  });

  it('ends when nobody has used it for five minutes', async () => {
    const { lease, started, clock } = make();
    const leased = await lease('a');
    await clock.advance(60 * 60_000);
    expect(started[0]?.isOver).toBe(false);
    leased.giveBack('ended');
    leased.giveBack('ended');
    await clock.advance(5 * 60_000);
    expect(started[0]?.isOver).toBe(true);
  });

  it('is for nobody else when a call of it broke, or when nothing is known of the client', async () => {
    const { lease, started, programs, target } = make();
    (await lease('a')).giveBack('broken');
    await expect.poll(() => started[0]?.isOver).toBe(true);
    await lease('a');
    expect(started).toHaveLength(2);
    const says = { clientInfo: {}, capabilities: { roots: {} }, logLevel: undefined };
    const nobody = () => programs.lease({ target, client: undefined, says }, never);
    const [one, other] = await Promise.all([nobody(), nobody()]);
    expect(one.session).not.toBe(other.session);
    one.giveBack('ended');
    await expect.poll(() => started.filter(({ isOver }) => isOver).length).toBe(2);
  });

  it('fails what is open when it ends by itself, and is started again by the next request', async () => {
    const { lease, started } = make();
    const { session } = await lease('a');
    const [one, two] = [session.request('tools/call', {}), session.request('tools/list', {})];
    started[0]?.hears.ended();
    await expect(one.next(never)).rejects.toThrow('ended before it answered');
    await expect(two.next(never)).rejects.toThrow('ended before it answered');
    await lease('a');
    expect(started).toHaveLength(2);
  });

  it.each([
    ['refuses', { code: -32_602, message: 'no such level' }],
    ['never answers', undefined],
  ])('serves its client all the same when it %s the level of log that the client wishes', async (_, error) => {
    const { programs, started, target } = make(true, { logging: {} });
    for (const logLevel of ['debug', 'info', 'debug', 'info', 'debug']) {
      const says = { clientInfo: {}, capabilities: { roots: {} }, logLevel };
      const { giveBack } = await programs.lease({ target, client: 'a', says, isForCall: true }, never);
      const wish = started[0]?.said.findLast(({ method }) => method === 'logging/setLevel');
      expect(wish?.['params']).toEqual({ level: logLevel });
      if (error) started[0]?.hears.message({ jsonrpc: '2.0', id: wish?.['id'], error });
      giveBack('ended');
    }
    expect(started).toHaveLength(1);
  });

  it('is given up when it does not answer the handshake', async () => {
    const { lease, started, clock } = make(false);
    const waiting = lease('a');
    waiting.catch(() => undefined);
    await clock.advance(60_000);
    await expect(waiting).rejects.toThrow('did not answer within 60000 ms');
    expect(started[0]?.isOver).toBe(true);
  });

  it('gives progress and answers to the request they belong to, and questions to one that is open', async () => {
    const { lease, started } = make();
    const { session } = await lease('a');
    const one = session.request('tools/call', {}, { wantsProgress: true });
    const two = session.request('tools/call', {}, { wantsProgress: true });
    const called = (): unknown[] =>
      (started[0]?.said ?? []).filter(({ method }) => method === 'tools/call').map(({ id }) => id);
    await expect.poll(called).toHaveLength(2);
    const [first, second] = called();
    const heard: unknown[] = [];
    one.hear(({ params }) => heard.push(params['progress']));
    const hear = (message: object): void => started[0]?.hears.message({ jsonrpc: '2.0', ...message });
    hear({ method: 'notifications/progress', params: { progressToken: first, progress: 1 } });
    hear({ method: 'notifications/progress', params: { progressToken: second, progress: 9 } });
    hear({ id: second, result: { two: true } });
    expect(await two.next(never)).toEqual({ result: { two: true } });
    hear({ id: 1, method: 'roots/list' });
    expect(await one.next(never)).toMatchObject({ asked: [{ method: 'roots/list' }] });
    hear({ id: first, result: { one: true } });
    expect(await one.next(never)).toEqual({ result: { one: true } });
    expect(heard).toEqual([1]);
    hear({ id: 2, method: 'roots/list' });
    expect(started[0]?.said.at(-1)).toMatchObject({
      id: 2,
      error: { message: expect.stringContaining('No request') as unknown },
    });
  });

  it('runs one call at a time that is to be alone, and calls that follow one another in the same copy', async () => {
    const { lease, leaseCall, started } = make();
    const first = await leaseCall('a');
    const second = await leaseCall('a');
    const list = await lease('a');
    expect(started).toHaveLength(2);
    expect(list.session).toBe(first.session);
    list.giveBack('ended');
    first.giveBack('ended');
    const third = await leaseCall('a');
    expect(third.session).toBe(first.session);
    expect(third.session).not.toBe(second.session);
  });

  it('runs four times at most for such calls of a client, one of which has to end first', async () => {
    const { leaseCall, started } = make();
    const leases = [];
    for (let count = 0; count < 4; count += 1) leases.push(await leaseCall('a'));
    await expect(leaseCall('a')).rejects.toMatchObject({ code: 'limit_reached' });
    expect((await leaseCall('b')).session).not.toBe(leases[0]?.session);
    leases[2]?.giveBack('broken');
    await leaseCall('a');
    expect(started).toHaveLength(6);
  });

  it('counts for its client as long as a call of it runs, however others have left it', async () => {
    const { lease, leaseCall } = make();
    for (let count = 0; count < 16; count += 1) {
      await leaseCall('a');
      (await lease('a')).giveBack('broken');
    }
    await expect(leaseCall('a')).rejects.toThrow('16 programs run for one client');
  });

  it('is asked about the newest call, and about another when that is given up', async () => {
    const { lease, started } = make();
    const { session } = await lease('a');
    const asks = session.request('tools/call', {});
    const other = session.request('tools/call', {});
    session.request('tools/list', {});
    const said = (): JsonObject[] => started[0]?.said ?? [];
    await expect.poll(() => said().filter(({ method }) => method === 'tools/call')).toHaveLength(2);
    started[0]?.hears.message({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: {} });
    expect(await other.next(never)).toMatchObject({ asked: [{ id: 'q' }] });
    other.abandon();
    expect(await asks.next(never)).toMatchObject({ asked: [{ id: 'q' }] });
    await other.answer('q', { error: { code: -1, message: 'gone' } });
    await asks.answer('q', { result: { action: 'accept' } });
    expect(said().filter(({ id }) => id === 'q')).toEqual([{ jsonrpc: '2.0', id: 'q', result: { action: 'accept' } }]);
  });

  it('is told that nobody answers what it asked in a call that was given up, where no other runs', async () => {
    const { lease, started } = make();
    const { session } = await lease('a');
    const asks = session.request('tools/call', {});
    const list = session.request('tools/list', {});
    await expect.poll(() => started[0]?.said.at(-1)?.['method']).toBe('tools/list');
    started[0]?.hears.message({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: {} });
    asks.abandon();
    expect(started[0]?.said.find(({ id }) => id === 'q')).toMatchObject({ error: { code: -32_600 } });
    list.abandon();
  });

  it('is one for each of its sessions, and ends with that', async () => {
    const { lease, started, programs, target } = make();
    await Promise.all([lease('a', 'one'), lease('a', 'two'), lease('a', 'one')]);
    expect(started).toHaveLength(2);
    programs.end(target, 'one');
    await expect.poll(() => started.map(({ isOver }) => isOver)).toEqual([true, false]);
  });

  it('makes room for another of its own when nobody uses it, and is not started without', async () => {
    const { lease, started } = make();
    const leases = [];
    for (let count = 0; count < 16; count += 1) leases.push(await lease('a', `s${count}`));
    await expect(lease('a', 'one more')).rejects.toThrow('16 programs run for one client');
    await lease('b', 'other');
    leases[3]?.giveBack('ended');
    await lease('a', 'one more');
    expect(started.map(({ isOver }, index) => (isOver ? index : -1)).filter((index) => index >= 0)).toEqual([3]);
  });

  it('runs for so many clients at most, and ends with the gateway', async () => {
    const { lease, started, programs } = make();
    for (let count = 0; count < 64; count += 1) await lease(`c${count}`);
    await expect(lease('one more')).rejects.toThrow('64 in all');
    await programs[Symbol.asyncDispose]();
    expect(started.every(({ isOver }) => isOver)).toBe(true);
  });

  it('does not hold up a gateway that stops while it starts', async () => {
    const { lease, started, programs, clock } = make(false);
    const starting = lease('a');
    starting.catch(() => undefined);
    await expect.poll(() => started.length).toBe(1);
    await programs[Symbol.asyncDispose]();
    await expect(starting).rejects.toMatchObject({ code: 'stopped' });
    expect([started[0]?.isOver, clock.pendingTimers]).toEqual([true, 0]);
  });

  it('asks what it says is about a task where the end of that task is waited for', async () => {
    const { lease, leaseCall, started } = make();
    const { session } = await lease('a');
    const one = session.request('tasks/result', { taskId: 't1' });
    const other = session.request('tasks/result', { taskId: 't2' });
    const call = (await leaseCall('a')).session.request('tools/call', { name: 'x' });
    const aside = session.request('tasks/get', { taskId: 't1' }, { isAside: true });
    const ask = (id: string, taskId?: string): void =>
      started[0]?.hears.message({
        jsonrpc: '2.0',
        id,
        method: 'elicitation/create',
        params: { ...(taskId !== undefined && { _meta: { 'io.modelcontextprotocol/related-task': { taskId } } }) },
      });
    ask('q1', 't1');
    ask('q2', 't2');
    ask('q3');
    expect(await one.next(never)).toMatchObject({ asked: [{ id: 'q1' }] });
    expect(await other.next(never)).toMatchObject({ asked: [{ id: 'q2' }] });
    expect(await call.next(never)).toMatchObject({ asked: [{ id: 'q3' }] });
    call.abandon();
    ask('q4');
    expect(await other.next(never)).toMatchObject({ asked: [{ id: 'q4' }] });
    aside.abandon();
  });
});
