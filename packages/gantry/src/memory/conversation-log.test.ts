import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../kernel/log.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { FakeClock } from '../testing/fake-clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { testKeyring } from '../testing/test-keyring.ts';
import type { ConversationLog } from './conversation-log.ts';
import { createConversationLog } from './conversation-log.ts';
import type { AssistantTurn, TurnOrigin, UserTurn } from './conversation-turn.ts';

const dayMs = 24 * 3_600_000;
let clock: FakeClock;
let store: Store;
let log: ConversationLog;

beforeEach(async () => {
  clock = fakeClock();
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  log = createConversationLog({ store, clock, maxTurns: 5, keptDays: 10 });
});
afterEach(() => store[Symbol.asyncDispose]());

const said = (text: string, origin: TurnOrigin = 'person'): UserTurn => ({
  role: 'user',
  origin,
  text,
  atMs: clock.nowMs(),
});
const reply = (text: string, status: AssistantTurn['status'] = 'done'): AssistantTurn => ({
  role: 'assistant',
  status,
  text,
  steps: [],
  atMs: clock.nowMs(),
});
const texts = async (limit: number, namespace = 'session/a'): Promise<string[]> =>
  (await log.recentTurns(namespace, limit)).map(({ text }) => text);

describe('a conversation', () => {
  it('gives its last turns, oldest first', async () => {
    for (const text of ['one', 'two', 'three']) await log.append('session/a', said(text));
    expect(await texts(2)).toEqual(['two', 'three']);
    expect(await texts(9)).toEqual(['one', 'two', 'three']);
    expect(await texts(9, 'session/b')).toEqual([]);
  });

  it('keeps its newest turns only', async () => {
    for (let n = 1; n <= 8; n += 1) await log.append('session/a', said(`${n}`));
    expect(await texts(99)).toEqual(['4', '5', '6', '7', '8']);
    expect(await log.head('session/a')).toMatchObject({ turns: 5, title: '1' });
  });

  it('knows what the user said last, and takes no word of the agent for his', async () => {
    await log.append('session/a', said('book it'));
    const { atMs } = (await log.lastUserTurn('session/a')) ?? {};
    await clock.advance(1000);
    await log.append('session/a', said('Task t_1 has finished.', 'notice'));
    await log.append('session/a', said('Every morning: check mail', 'schedule'));
    await log.append('session/a', reply('done'));
    expect(await log.lastUserTurn('session/a')).toEqual({ atMs, text: 'book it' });
    expect(await log.lastUserTurn('session/b')).toBeUndefined();
  });

  it('is written again as its turn goes on', async () => {
    const number = await log.append('session/a', reply('', 'running'));
    await log.update('session/a', number, reply('at last'));
    expect(await log.recentTurns('session/a', 1)).toMatchObject([{ number, status: 'done', text: 'at last' }]);
  });

  it('stays forgotten when a turn of it goes on', async () => {
    const number = await log.append('session/a', reply('', 'running'));
    expect(await log.forget('session/a')).toBe(true);
    await log.update('session/a', number, reply('late'));
    expect(await texts(9)).toEqual([]);
    expect(await log.forget('session/a')).toBe(false);
  });

  it('gets every turn of two that add at the same time', async () => {
    await Promise.all(['x', 'y', 'z'].map((text) => log.append('session/a', said(text))));
    expect((await texts(9)).toSorted()).toEqual(['x', 'y', 'z']);
  });

  it('is forgotten when nobody adds to it', async () => {
    await log.append('session/old', said('hello'));
    await clock.advance(6 * dayMs);
    await log.append('session/new', said('hi'));
    await clock.advance(5 * dayMs);
    expect(await log.sweep()).toBe(1);
    expect((await log.list()).map(({ namespace }) => namespace)).toEqual(['session/new']);
    expect(await texts(9, 'session/old')).toEqual([]);
  });

  it('is listed by when it was added to last', async () => {
    await log.append('session/a', said('first'), { workspace: 'w1' });
    await clock.advance(1000);
    await log.append('session/b', said('second'));
    await clock.advance(1000);
    await log.append('session/a', said('third'));
    expect(await log.list()).toMatchObject([
      { namespace: 'session/a', title: 'first', turns: 2, workspace: 'w1' },
      { namespace: 'session/b', title: 'second', turns: 1 },
    ]);
  });
});
