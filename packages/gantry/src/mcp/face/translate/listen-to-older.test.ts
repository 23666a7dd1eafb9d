import { expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { createListenToOlder } from './listen-to-older.ts';

const megabyte = 1024 * 1024;
const can = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** Listens to a task; `tell` says its state. */
const listen = async () => {
  const clock = fakeClock();
  let tell: (task: JsonObject) => void = () => {};
  const open = createListenToOlder({
    clock,
    log: silentLog,
    watchTasks: async () => ({ ids: ['t1'], hear: (listener) => void (tell = listener) }),
  });
  const params = {
    notifications: { taskIds: ['t1'] },
    _meta: { 'io.modelcontextprotocol/clientCapabilities': can },
  };
  const response = await open({
    target: { name: 's', isHttp: true } as never,
    client: undefined,
    says: { clientInfo: {}, capabilities: can, logLevel: undefined },
    message: { jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params },
    signal: new AbortController().signal,
  });
  return { clock, response, tell: (result: string) => tell({ taskId: 't1', status: 'completed', result }) };
};
const states = (text: string): number => text.split('"notifications/tasks"').length - 1;

it('lets go of a client that does not read when eight megabytes wait for it', async () => {
  const { response, tell } = await listen();
  for (let count = 0; count < 20; count += 1) tell('x'.repeat(megabyte));
  // What waits for it goes too: the stream lives as long as its connection.
  await expect(response.text()).rejects.toThrow('did not read');
});

it('brings a client that reads what is larger than that, and has no timer when it is let go of', async () => {
  const { clock, response, tell } = await listen();
  tell('x'.repeat(9 * megabyte));
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (states(text) === 0) text += decoder.decode((await reader?.read())?.value);
  expect(text.length).toBeGreaterThan(9 * megabyte);
  await reader?.cancel();
  expect(clock.pendingTimers).toBe(0);
});
