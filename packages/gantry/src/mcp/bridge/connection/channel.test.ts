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
  const say = (message: object, isShared = false): boolean =>
    requests.take({ jsonrpc: '2.0', ...message } as never, isShared);
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
    const { taken } = send({ id: 'one', logsFor: {} });
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
  const owner = {};

  it('belongs to the only request that runs, and to the latest of one owner', () => {
    const { send, say } = startProgram();
    const listener = send({ id: 'l', ...listening });
    const one = send({ id: 'one', logsFor: owner });
    say(log('a'));
    const two = send({ id: 'two', logsFor: owner });
    say(log('b'));
    expect([one.taken, two.taken, listener.taken]).toMatchObject([
      [{ params: { data: 'a' } }],
      [{ params: { data: 'b' } }],
      [],
    ]);
  });

  it.each([
    ['another owner wants its own', { logsFor: {} }, false],
    ['another request runs that wants none', {}, false],
    ['the bridge has a request of its own', undefined, true],
  ])('belongs to nobody while %s', (_why, other, isShared) => {
    const { send, say } = startProgram();
    const one = send({ id: 'one', logsFor: owner });
    const two = other && send({ id: 'two', ...other });
    expect(say(log('a'), isShared)).toBe(false);
    say({ id: 'two', result: {} });
    expect([one.taken, two?.taken.filter((message) => 'method' in (message as object)) ?? []]).toEqual([[], []]);
    if (isShared) return;
    expect(say(log('b'))).toBe(true);
    expect(one.taken).toMatchObject([{ params: { data: 'b' } }]);
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
    requests.take({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' } as never, false);
    requests.endListening();
    await listened;
    await requests.listen(() => heard.push('late'), new AbortController().signal);
    requests.take({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' } as never, false);
    expect(heard).toEqual(['notifications/tools/list_changed']);
    await expect(send({ id: 'late', ...listening }).ended).rejects.toMatchObject({ code: 'server_unreachable' });
  });
});
