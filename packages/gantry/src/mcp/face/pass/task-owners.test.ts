import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import { silentLog } from '../../../kernel/log.ts';
import type { KeyValue } from '../../../store/key-value.ts';
import type { Store } from '../../../store/store.ts';
import { openSqliteStore } from '../../../store/sqlite/open-sqlite-store.ts';
import type { FakeClock } from '../../../testing/fake-clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { testKeyring } from '../../../testing/test-keyring.ts';
import type { TaskOwners } from './task-owners.ts';
import { createTaskOwners } from './task-owners.ts';

const relatedKey = 'io.modelcontextprotocol/related-task';
const related = (meta: object) => ({ id: 1, method: 'tools/call', params: { name: 't', _meta: meta } });
const dayMs = 24 * 60 * 60_000;

describe('tasks of servers', () => {
  let clock: FakeClock;
  let store: Store;
  let space: KeyValue<string>;
  beforeEach(async () => {
    clock = fakeClock();
    store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
    space = store.keyValue('owners');
  });
  afterEach(() => store[Symbol.asyncDispose]());
  const open = (owners: KeyValue<string> = space): TaskOwners => createTaskOwners({ owners, clock, log: silentLog });
  const get = (taskId: unknown) => ({ method: 'tasks/get', params: { taskId } });
  const made = { resultType: 'task', taskId: 't1', status: 'working' };
  const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: made });

  it.each([
    ['a body of JSON', answer],
    ['an event', `event: message\ndata: ${answer}\n\n`],
    [
      'an event of several lines',
      `id: 1\r\ndata: {"jsonrpc":"2.0","id":1,\r\ndata: "result":${JSON.stringify(made)}}\r\n\r\n`,
    ],
    ['the words of 2025', JSON.stringify({ jsonrpc: '2.0', id: 1, result: { task: made } })],
  ])('belong to the client whose call made them, when %s says so', async (_what, text) => {
    await open().noteText('lab', 'ann', text);
    expect(await open().isOthers('lab', 'ann', get('t1'))).toBe(false);
    expect(await open().isOthers('lab', 'ben', get('t1'))).toBe(true);
    expect(await open().isOthers('other', 'ann', get('t1'))).toBe(true);
  });

  it.each([
    ['of nobody', get('t2')],
    ['that is no text', get(['t1'])],
    ['in another case beside its own', { method: 'tasks/get', params: { taskId: 't1', TaskId: 't2' } }],
    [
      'in notices, beside its own',
      { method: 'subscriptions/listen', params: { notifications: { taskIds: ['t1', 't2'] } } },
    ],
    ['in notices, in another case', { method: 'subscriptions/listen', params: { notifications: { taskids: ['t2'] } } }],
    [
      'in notices that are in another case',
      { method: 'subscriptions/listen', params: { Notifications: { taskIds: ['t2'] } } },
    ],
    [
      'in notices that are in another case beside their own',
      { method: 'subscriptions/listen', params: { notifications: {}, NOTIFICATIONS: { taskIds: ['t2'] } } },
    ],
    ['that another request is said to belong to', related({ [relatedKey]: { taskId: 't2' } })],
    ['that another request is said to belong to, in another case', related({ [relatedKey]: { TaskID: 't2' } })],
    [
      'that another request is said to belong to, by a key in another case',
      related({ [relatedKey.toUpperCase()]: { taskId: 't2' } }),
    ],
  ])('are not named by a client with an id %s', async (_what, message) => {
    await open().note('lab', 'ann', made);
    expect(await open().isOthers('lab', 'ann', message)).toBe(true);
  });

  it.each([
    ['a call', { method: 'tools/call', params: { name: 't', arguments: { taskId: 't2' } } }],
    [
      'a subscription to something else',
      { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } },
    ],
    ['an answer', { id: 1, result: {} }],
    ['a request that belongs to one of its own', related({ [relatedKey]: { taskId: 't1' } })],
    [
      'a notice about a task that the client runs itself',
      { method: 'notifications/progress', params: { _meta: { [relatedKey]: { taskId: 'c1' } } } },
    ],
  ])('have nothing to do with %s', async (_what, message) => {
    await open().note('lab', 'ann', made);
    expect(await open().isOthers('lab', 'ann', message)).toBe(false);
  });

  it('are told from those of others, however many there are', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `t${index}`);
    for (const [index, taskId] of ids.entries()) await open().note('lab', index % 3 ? 'ann' : 'ben', { taskId });
    expect([...(await open().ownOf('lab', 'ben', ids))].sort()).toEqual(
      ids.filter((_, index) => index % 3 === 0).sort(),
    );
  });

  it('are remembered for a week from when their client asked about them last, without names in the clear', async () => {
    await open().note('lab', 'ann', made);
    expect(JSON.stringify(await space.list(''))).not.toMatch(/ann|t1/);
    for (let day = 0; day < 20; day += 2) {
      await clock.advance(2 * dayMs);
      expect(await open().isOthers('lab', 'ann', get('t1'))).toBe(false);
    }
    await clock.advance(7 * dayMs);
    expect(await open().isOthers('lab', 'ann', get('t1'))).toBe(true);
  });

  it('belong to nobody while the store is away', async () => {
    const away = async (): Promise<never> => {
      throw new GantryError('store_unavailable', 'The store is away.');
    };
    await expect(open({ ...space, get: away }).isOthers('lab', 'ann', get('t1'))).rejects.toThrow('away');
    await open({ ...space, set: away }).note('lab', 'ann', made);
    expect(await open().isOthers('lab', 'ann', get('t1'))).toBe(true);
  });
});
