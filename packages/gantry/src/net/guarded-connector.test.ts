import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { fakeClock } from '../testing/fake-clock.ts';
import type { Dial } from './guarded-connector.ts';
import { guardedConnector } from './guarded-connector.ts';
import { publicOnly } from './address/policy.ts';

type Wanted = Parameters<Dial>[0];

const open = (addresses: readonly string[], answer: (wanted: Wanted) => Socket | Error | undefined) => {
  const clock = fakeClock();
  const dialled: Wanted[] = [];
  const lookups: string[] = [];
  const connector = guardedConnector({
    rules: { policy: publicOnly, isOwnListener: () => false },
    resolve: async (host) => {
      lookups.push(host);
      return addresses;
    },
    dial: (wanted, callback) => {
      dialled.push(wanted);
      const result = answer(wanted);
      if (result instanceof Error) callback(result, null);
      else if (result) callback(null, result);
    },
    clock,
    connectMs: 5_000,
  });
  const connect = (hostname: string, protocol = 'http:'): Promise<Socket> =>
    new Promise((resolve, reject) => {
      connector({ hostname, protocol, port: '' }, (error, socket) => (error ? reject(error) : resolve(socket)));
    });
  return { connect, dialled, lookups, clock };
};
const refusedConnection = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

describe('guardedConnector', () => {
  it('dials the judged address under the host name of TLS', async () => {
    const socket = new Socket();
    const { connect, dialled } = open(['93.184.215.14'], () => socket);
    expect(await connect('example.com', 'https:')).toBe(socket);
    expect(dialled).toEqual([expect.objectContaining({ hostname: '93.184.215.14', servername: 'example.com' })]);
  });

  it.each(['127.0.0.1', '169.254.169.254', '::1', '::ffff:7f00:1', '0.0.0.0'])(
    'refuses the literal %s without dialling',
    async (host) => {
      const { connect, dialled, lookups } = open([], () => new Socket());
      await expect(connect(host)).rejects.toMatchObject({ code: 'address_refused' });
      expect([dialled, lookups]).toEqual([[], []]);
    },
  );

  it('refuses a host with one address that is not public, and a local name without asking', async () => {
    const { connect, dialled, lookups } = open(['93.184.215.14', '192.168.0.10'], () => new Socket());
    await expect(connect('mixed.example')).rejects.toMatchObject({ code: 'address_refused' });
    await expect(connect('db.internal')).rejects.toMatchObject({ code: 'address_refused' });
    expect([dialled, lookups]).toEqual([[], ['mixed.example']]);
  });

  it('goes on to the next address, and says of an unreachable host what was tried', async () => {
    const socket = new Socket();
    const reachable = open(['1.1.1.1', '2606:4700::1'], ({ hostname }) =>
      hostname === '1.1.1.1' ? refusedConnection : socket,
    );
    expect(await reachable.connect('example.com')).toBe(socket);
    const down = open(['1.1.1.1', '1.0.0.1'], () => refusedConnection);
    await expect(down.connect('example.com')).rejects.toMatchObject({
      code: 'execution_failed',
      retry: 'same',
      message: '"example.com" port 80 cannot be reached (1.1.1.1, 1.0.0.1): connect ECONNREFUSED.',
    });
  });

  it('shares the connection time among addresses that do not answer', async () => {
    const { connect, dialled, clock } = open(['1.1.1.1', '1.0.0.1'], () => undefined);
    const outcome = expect(connect('example.com')).rejects.toMatchObject({ code: 'timeout', retry: 'later' });
    await clock.advance(2_500);
    expect(dialled).toHaveLength(2);
    await clock.advance(2_500);
    await outcome;
  });
});
