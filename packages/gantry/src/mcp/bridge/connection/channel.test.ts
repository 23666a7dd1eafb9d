import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import { silentLog } from '../../../kernel/log.ts';
import type { ChannelRequest } from '../../wire/pass-port.ts';
import { toLostAnswer } from './lost-answer.ts';
import { createChannel } from './channel.ts';

const subscription = (id: unknown) => ({ _meta: { 'io.modelcontextprotocol/subscriptionId': id } });

/** A program that only takes what is sent to it. */
const startProgram = () => {
  const sent: object[] = [];
  const requests = createChannel({ send: async (message) => void sent.push(message) }, { server: 's', log: silentLog });
  const send = (request: Partial<ChannelRequest> & { readonly id: string }) => {
    const taken: unknown[] = [];
    const ending = new AbortController();
    const ended = requests.send(
      { method: 'tools/call', params: {}, client: 'c', ...request },
      (message) => taken.push(message),
      ending.signal,
    );
    ended.catch(() => undefined);
    return { taken, ended, ending };
  };
  const say = (message: object): boolean => requests.take({ jsonrpc: '2.0', ...message } as never);
  return { requests, send, say, sent };
};
const log = (data: string) => ({ method: 'notifications/message', params: { level: 'info', data } });
const listening = { method: 'subscriptions/listen', params: { notifications: {} } };

describe('what a server says on its one channel', () => {
  it('reaches the request that it names: by id, subscription or progress token', async () => {
    const { send, say } = startProgram();
    const one = send({ id: 'one' });
    const two = send({ id: 'two', ...listening });
    expect(say({ method: 'notifications/progress', params: { progressToken: 'one', progress: 1 } })).toBe(true);
    expect(say({ method: 'notifications/tools/list_changed', params: subscription('two') })).toBe(true);
    expect(say({ id: 'one', result: {} })).toBe(true);
    await one.ended;
    expect(one.taken).toMatchObject([{ method: 'notifications/progress' }, { id: 'one', result: {} }]);
    expect(two.taken).toMatchObject([{ method: 'notifications/tools/list_changed' }]);
  });

  it('is left to the bridge where it names none of them', () => {
    const { send, say } = startProgram();
    const { taken } = send({ id: 'one', owner: 'c', wantsLog: true });
    for (const message of [
      { id: 3, result: {} },
      { id: 3, method: 'sampling/createMessage', params: {} },
      { method: 'notifications/tools/list_changed', params: {} },
      { method: 'notifications/tools/list_changed', params: subscription('listen:1') },
      { method: 'notifications/progress', params: { progressToken: 3, progress: 1 } },
      { method: 'notifications/message', params: [] },
      { method: 'notifications/cancelled', params: { requestId: 'other' } },
    ])
      expect(say(message), JSON.stringify(message)).toBe(false);
    expect(taken).toEqual([]);
  });

  it('is not taken for the answer of a request that has ended', async () => {
    const { send, say } = startProgram();
    const { ended, taken } = send({ id: 'one' });
    say({ id: 'one', result: {} });
    await ended;
    expect(say({ id: 'one', result: { again: true } })).toBe(false);
    expect(taken).toHaveLength(1);
  });
});

describe('a message of the log', () => {
  const mine = { owner: 'mine', wantsLog: true };

  it('belongs to the latest request that wants it, where nobody else has used the connection', () => {
    const { send, say } = startProgram();
    const listener = send({ id: 'l', owner: 'mine', ...listening });
    const quiet = send({ id: 'quiet', owner: 'mine' });
    const one = send({ id: 'one', ...mine });
    say(log('a'));
    const two = send({ id: 'two', ...mine });
    say(log('b'));
    expect([one.taken, two.taken, listener.taken, quiet.taken]).toMatchObject([
      [{ params: { data: 'a' } }],
      [{ params: { data: 'b' } }],
      [],
      [],
    ]);
  });

  it.each([
    ['another has made a request', { id: 'other', owner: 'other' }],
    ['another has listened', { id: 'other', owner: 'other', ...listening }],
    ['the bridge has made one for somebody', undefined],
  ])('belongs to nobody once %s, even after that has ended', (_why, other) => {
    const { requests, send, say } = startProgram();
    if (other) send(other);
    else requests.usedByOthers();
    say({ id: 'other', result: {} });
    const one = send({ id: 'one', ...mine });
    expect(say(log('a'))).toBe(false);
    expect(one.taken).toEqual([]);
  });
});

describe('a request on the channel', () => {
  it('that is given up is cancelled there', async () => {
    const { send, sent, say } = startProgram();
    const { ending, ended } = send({ id: 'one' });
    ending.abort(new GantryError('cancelled', 'gone'));
    await expect(ended).rejects.toThrow('gone');
    expect(sent.at(-1)).toEqual({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'one' } });
    expect(say({ id: 'one', result: {} })).toBe(false);
  });

  it('may be given up, and the connection may end, while it is still being written', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const channel = createChannel({ send: () => new Promise(() => {}) }, { server: 's', log: silentLog });
    const ending = new AbortController();
    const request = { method: 'tools/call', params: {}, client: 'c' };
    const given = channel.send({ ...request, id: 'one' }, () => {}, ending.signal);
    const broken = channel.send({ ...request, id: 'two' }, () => {}, new AbortController().signal);
    ending.abort(new Error('gone'));
    channel.end();
    await expect(given).rejects.toThrow('gone');
    await expect(broken).rejects.toMatchObject({ code: 'server_unreachable' });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('outlives a listener that fails', async () => {
    const channel = createChannel({ send: async () => {} }, { server: 's', log: silentLog });
    const failing = (): never => {
      throw new RangeError('too deep');
    };
    const never = new AbortController().signal;
    void channel.listen(failing, never);
    const sent = channel.send({ id: 'one', method: 'tools/call', params: {}, client: 'c' }, failing, never);
    channel.take({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    channel.take({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'one', progress: 1 } });
    channel.take({ jsonrpc: '2.0', id: 'one', result: {} });
    await sent;
  });

  it('fails with the reason why its answer never comes, but not with one that the program made up', async () => {
    const { requests, send, say } = startProgram();
    const long = send({ id: 'one' });
    say(toLostAnswer('one', new GantryError('response_too_large', 'too large')));
    await expect(long.ended).rejects.toMatchObject({ code: 'response_too_large' });
    const forged = send({ id: 'forged' });
    const data = { 'gantry.dev/lost-answer': { code: 'limit_reached', details: {} } };
    say({ id: 'forged', error: { code: -32_090, message: 'mine', data } });
    await forged.ended;
    expect(forged.taken).toMatchObject([{ error: { message: 'mine' } }]);
    const broken = send({ id: 'two' });
    requests.end();
    await expect(broken.ended).rejects.toMatchObject({ code: 'server_unreachable', retry: 'never' });
  });

  it('that listens ends with a result when the program cancels it, or is to be another; others go on', async () => {
    const { requests, send, say } = startProgram();
    const [one, two, call] = [
      send({ id: 'one', ...listening }),
      send({ id: 'two', ...listening }),
      send({ id: 'call' }),
    ];
    say({ method: 'notifications/cancelled', params: { requestId: 'one' } });
    say({ method: 'notifications/cancelled', params: { requestId: 'call' } });
    requests.endListening();
    await Promise.all([one.ended, two.ended]);
    for (const { taken } of [one, two]) expect(taken).toMatchObject([{ result: { resultType: 'complete' } }]);
    say({ id: 'call', result: {} });
    await call.ended;
  });

  it('listens two hundred times for one client at most', async () => {
    const { send } = startProgram();
    for (let count = 0; count < 200; count += 1) send({ id: `${count}`, ...listening });
    await expect(send({ id: 'more', ...listening }).ended).rejects.toMatchObject({ code: 'limit_reached' });
    const others = send({ id: 'other', ...listening, client: 'd' });
    expect(await Promise.race([others.ended.then(() => 'ended'), Promise.resolve('listens')])).toBe('listens');
  });

  it('does not listen on a connection that is to end', async () => {
    const { requests, send } = startProgram();
    const heard: string[] = [];
    const listened = requests.listen(({ method }) => heard.push(method), new AbortController().signal);
    requests.take({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' } as never);
    requests.endListening();
    await listened;
    await requests.listen(() => heard.push('late'), new AbortController().signal);
    requests.take({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' } as never);
    expect(heard).toEqual(['notifications/tools/list_changed']);
    await expect(send({ id: 'late', ...listening }).ended).rejects.toMatchObject({ code: 'server_unreachable' });
  });
});
