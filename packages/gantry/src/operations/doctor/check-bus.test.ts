import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock as clock } from '../../kernel/clock.ts';
import { checkBus } from './check-bus.ts';

const facts = { prefix: 'gantry', needsScriptsManager: true, clock };

describe('checkBus', () => {
  it('is content without a broker', async () => {
    expect(await checkBus({ ...facts, url: undefined })).toMatchObject({ state: 'ok' });
  });

  it('says why a broker cannot be reached, and nothing of its password', async () => {
    const server = createServer((socket) => void socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const check = await checkBus({ ...facts, url: `amqp://user:hunter2@127.0.0.1:${port}`, waitMs: 300 });
    expect(check).toMatchObject({
      name: 'broker',
      state: 'broken',
      message: expect.stringMatching(
        `^amqp://127.0.0.1:${port} cannot be reached: what answers there does not speak AMQP$`,
      ),
      fix: expect.stringContaining('GANTRY_BUS__URL'),
    });
    expect(JSON.stringify(check)).not.toContain('hunter2');
    await once(server.close(), 'close');
  });

  it('passes on what is wrong with the settings', async () => {
    expect(await checkBus({ ...facts, url: 'http://mq' })).toMatchObject({
      state: 'broken',
      message: expect.stringContaining('no AMQP URL'),
    });
  });
});
