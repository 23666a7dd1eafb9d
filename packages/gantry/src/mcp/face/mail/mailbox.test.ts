import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../kernel/log.ts';
import { openSqliteStore } from '../../../store/sqlite/open-sqlite-store.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { testKeyring } from '../../../testing/test-keyring.ts';
import { createMailbox } from './mailbox.ts';

const sealing = { seal: (text: string) => text, open: (sealed: string) => sealed };

describe('letters between processes', () => {
  it('are heard as they were sent, also by what the one before has made listen', async () => {
    const clock = fakeClock();
    await using store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
    const letters = store.keyValue<string>('letters');
    await using one = createMailbox({ sealing, letters, clock, log: silentLog });
    await using other = createMailbox({ sealing, letters, clock, log: silentLog });
    const heard: string[] = [];
    using _topic = other.hear('parked', () => {
      heard.push('asked');
      other.hear('0a1', () => heard.push('taken back'));
    });
    using looking = other.look();
    await looking.isSeen;
    await one.send(other.address, 'parked', { thread: '0a1' });
    await one.send(other.address, '0a1', { gone: true });
    await clock.advance(250);
    await expect.poll(() => heard).toEqual(['asked', 'taken back']);
  });
});
