import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import type { KeyValue } from '../../store/key-value.ts';
import type { Store } from '../../store/store.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { testKeyring } from '../../testing/test-keyring.ts';
import type { SessionEvent } from './session-events.ts';
import type { SharedEvents } from './shared-events.ts';
import { createSharedEvents } from './shared-events.ts';

const talk = 'session/talk';
const piece = (text: string): SessionEvent => ({ type: 'text', text });
const start: SessionEvent = { type: 'turn-start', origin: 'person', text: 'hello' };

describe('what happens in a session in another process', () => {
  let clock: FakeClock;
  let store: Store;
  let space: KeyValue<readonly SessionEvent[]>;
  let here: SharedEvents;
  let there: SharedEvents;
  beforeEach(async () => {
    clock = fakeClock();
    store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
    space = store.keyValue('events');
    [here, there] = [open(), open()];
  });
  afterEach(async () => {
    for (const events of [here, there]) await events[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
  const open = (): SharedEvents => createSharedEvents({ space, clock, log: silentLog });
  const listen = async (events: SharedEvents, namespace = talk) => {
    const heard: SessionEvent[] = [];
    const listening = events.listen(namespace, (event) => void heard.push(event));
    await clock.advance(1_500);
    return { heard, listening };
  };

  it('is heard in order, with pieces of one text as one', async () => {
    const { heard } = await listen(there);
    for (const event of [start, piece('Hel'), piece('lo'), { type: 'notice', text: 'x' } as const, piece('!')])
      here.tell(talk, event);
    await clock.advance(1_000);
    expect(heard).toEqual([start, piece('Hello'), { type: 'notice', text: 'x' }, piece('!')]);
    here.tell(talk, piece('more'));
    await clock.advance(1_000);
    expect(heard.at(-1)).toEqual(piece('more'));
    expect(heard).toHaveLength(5);
  });

  it('is not heard by the process where it happens, nor by listeners of other sessions', async () => {
    const [own, other] = [await listen(here), await listen(there, 'session/other')];
    here.tell(talk, start);
    await clock.advance(1_000);
    expect([own.heard, other.heard]).toEqual([[], []]);
  });

  it('is not written while nobody listens elsewhere, and not long after somebody did', async () => {
    here.tell(talk, start);
    await clock.advance(1_000);
    expect(await space.list('')).toEqual([]);
    const { listening } = await listen(there);
    listening[Symbol.dispose]();
    await clock.advance(11_000);
    here.tell(talk, start);
    await clock.advance(1_000);
    expect(await space.list('')).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is heard from soon after somebody begins to listen in the middle of it', async () => {
    here.tell(talk, start);
    await clock.advance(300);
    const { heard } = await listen(there);
    here.tell(talk, piece('late'));
    await clock.advance(1_000);
    expect(heard).toEqual([piece('late')]);
  });

  it('is heard as it was when another process goes on with the session', async () => {
    const { heard } = await listen(there);
    const third = open();
    third.tell(talk, piece('first'));
    await third[Symbol.asyncDispose]();
    await clock.advance(1);
    here.tell(talk, { type: 'notice', text: 'second' });
    await clock.advance(1_000);
    expect(heard).toEqual([piece('first'), { type: 'notice', text: 'second' }]);
  });
});
