import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lease } from '../../store/leases.ts';
import type { Store } from '../../store/store.ts';
import type { FakeClock } from '../fake-clock.ts';
import { fakeClock } from '../fake-clock.ts';

interface Question {
  readonly text: string;
  readonly rounds?: number;
}

const minuteMs = 60_000;
const present = <T>(items: readonly (T | undefined)[]): T[] => items.filter((item): item is T => item !== undefined);

/** What every {@link Store} must do. `open` gives an empty store that lives by the given clock. */
export const storeContract = (name: string, open: (clock: FakeClock) => Promise<Store>): void => {
  describe(name, () => {
    let clock: FakeClock;
    let store: Store;
    beforeEach(async () => {
      clock = fakeClock();
      store = await open(clock);
    });
    afterEach(() => store[Symbol.asyncDispose]());

    describe('key-value', () => {
      it('gives back what was written, and nothing of another space', async () => {
        const values = store.keyValue<unknown>('one');
        await values.set('a', { list: [1, 'two', null], text: 'ü\u0000☃' });
        expect((await values.get('a'))?.value).toStrictEqual({ list: [1, 'two', null], text: 'ü\u0000☃' });
        expect(await store.keyValue('two').get('a')).toBeUndefined();
      });

      it('forgets an entry at the moment it expires, for every reader', async () => {
        const values = store.keyValue<string>('space');
        await values.set('short', 'x', { ttlMs: minuteMs });
        await values.set('long', 'y');
        await clock.advance(minuteMs - 1);
        expect(await values.count('')).toBe(2);
        await clock.advance(1);
        expect(await values.get('short')).toBeUndefined();
        expect(await values.list('')).toMatchObject([{ key: 'long' }]);
        expect(await values.count('')).toBe(1);
        expect(await values.delete('short')).toBe(false);
      });

      // Clients and operators say how long, and not always in whole milliseconds.
      it('keeps an entry for a part of a millisecond as for a whole one', async () => {
        const values = store.keyValue<string>('space');
        await values.set('short', 'x', { ttlMs: 1.5 });
        expect(await values.get('short')).toMatchObject({ expiresAtMs: clock.nowMs() + 2 });
        const ledger = store.ledger<number>('l');
        await ledger.put({ id: '1', owner: 'a', value: 1, expiresAtMs: clock.nowMs() + 0.5 });
        expect(await ledger.get('1')).toMatchObject({ expiresAtMs: clock.nowMs() + 1 });
      });

      describe.each([
        ['a NUL character', 'a\0b', '"a\\0b" holds a NUL character'],
        ['half of a character', 'a\ud800', '"a\ufffd" holds half of a character'],
      ])('of a key with %s', (_what, key, words) => {
        const refused = { code: 'invalid_arguments', message: expect.stringContaining(words) as string };

        it('writes nothing', async () => {
          await expect(store.keyValue('space').set(key, 'x')).rejects.toMatchObject(refused);
          await expect(store.documents('d').put(key, 1)).rejects.toMatchObject(refused);
          await expect(store.ledger('l').put({ id: key, owner: 'a', value: 1 })).rejects.toMatchObject(refused);
          await expect(store.ledger('l').put({ id: '1', owner: key, value: 1 })).rejects.toMatchObject(refused);
          await expect(store.leases.acquire(key, 'me', minuteMs)).rejects.toMatchObject(refused);
        });

        it('finds nothing, as of any key that nobody wrote', async () => {
          const values = store.keyValue<string>('space');
          // What a half of a character becomes where it is written.
          await values.set('a\ufffd', 'another');
          expect([await values.get(key), await values.list(key), await values.count(key)]).toEqual([undefined, [], 0]);
          expect(await values.delete(key)).toBe(false);
          const documents = store.documents<number>('d');
          expect([await documents.get(key), await documents.delete(key)]).toEqual([undefined, false]);
          const ledger = store.ledger<number>('l');
          expect([
            await ledger.get(key),
            await ledger.list({ owner: key }),
            await ledger.count({ group: key }),
          ]).toEqual([undefined, [], 0]);
          expect(await ledger.update(key, (one) => one)).toBeUndefined();
          expect(await ledger.take(key, { as: 'answered' })).toBeUndefined();
          expect(await ledger.reopen(key)).toBeUndefined();
        });
      });

      it('tells keys apart byte by byte and lists them so', async () => {
        const values = store.keyValue<string>('space');
        const keys = ['B', 'Z/1', '_', 'a', 'a-b', 'a/1', 'ab', 'b', 'ä', 'ﬀ', '😀'];
        for (const key of keys.toReversed()) await values.set(key, key);
        expect((await values.list('')).map(({ key }) => key)).toEqual(keys);
      });

      it('sweeps what has expired, once', async () => {
        const values = store.keyValue<string>('space');
        await values.set('gone', 'x', { ttlMs: 1 });
        await values.set('here', 'x');
        await clock.advance(1);
        expect([await values.sweep(), await values.sweep()]).toEqual([1, 0]);
        expect(await values.count('')).toBe(1);
      });

      it('counts the time to live anew with every write', async () => {
        const values = store.keyValue<string>('space');
        await values.set('a', 'x', { ttlMs: minuteMs });
        await clock.advance(minuteMs / 2);
        await values.set('a', 'y', { ttlMs: minuteMs });
        await clock.advance(minuteMs / 2);
        expect(await values.get('a')).toEqual({
          key: 'a',
          value: 'y',
          writtenAtMs: clock.nowMs() - minuteMs / 2,
          expiresAtMs: clock.nowMs() + minuteMs / 2,
        });
      });

      it.each([
        ['a', ['a', 'a/1', 'a/2/x']],
        ['a/', ['a', 'a/1', 'a/2/x']],
        ['a/2', ['a/2/x']],
        ['a.', []],
        ['', ['a', 'a!', 'a/1', 'a/2/x', 'a0', 'ab/1']],
      ])('reads the path "%s" by whole segments', async (under, keys) => {
        const values = store.keyValue<number>('space');
        for (const key of ['ab/1', 'a/2/x', 'a', 'a0', 'a!', 'a/1']) await values.set(key, 1);
        expect((await values.list(under)).map((entry) => entry.key)).toEqual(keys);
        expect(await values.count(under)).toBe(keys.length);
      });

      it('refuses a new key above the cap, but not an update, and not after one expired', async () => {
        const values = store.keyValue<number>('space');
        const cap = { under: 'n', maxEntries: 2 };
        expect(await values.set('n/1', 1, { cap, ttlMs: minuteMs })).toBe(true);
        expect(await values.set('n/2', 1, { cap })).toBe(true);
        expect(await values.set('n/3', 1, { cap })).toBe(false);
        expect(await values.set('n/1', 2, { cap, ttlMs: minuteMs })).toBe(true);
        expect(await values.set('m/1', 1, { cap: { under: 'm', maxEntries: 2 } })).toBe(true);
        await clock.advance(minuteMs);
        expect(await values.set('n/3', 1, { cap })).toBe(true);
        expect(await values.set('n/1', 1, { cap })).toBe(false);
      });

      it('does not count entries that were written without a cap', async () => {
        const values = store.keyValue<number>('space');
        for (let index = 0; index < 5; index += 1) await values.set(`n/free${index}`, 1);
        expect(await values.set('n/1', 1, { cap: { under: 'n', maxEntries: 1 } })).toBe(true);
        expect(await values.set('n/2', 1, { cap: { under: 'n', maxEntries: 1 } })).toBe(false);
      });

      it('lets concurrent writers share the last free place only once', async () => {
        const values = store.keyValue<number>('space');
        const cap = { under: 'n', maxEntries: 3 };
        const written = await Promise.all(Array.from({ length: 9 }, (_, n) => values.set(`n/${n}`, n, { cap })));
        expect(written.filter(Boolean)).toHaveLength(3);
        expect(await values.count('n')).toBe(3);
      });
    });

    describe('documents', () => {
      it('numbers the revisions of a document', async () => {
        const documents = store.documents<{ a: number }>('settings');
        expect([await documents.put('x', { a: 1 }), await documents.put('x', { a: 2 })]).toEqual([1, 2]);
        expect(await documents.get('x')).toStrictEqual({
          id: 'x',
          value: { a: 2 },
          revision: 2,
          writtenAtMs: clock.nowMs(),
        });
        expect(await store.documents('other').get('x')).toBeUndefined();
      });

      it('writes for one of two who read the same revision', async () => {
        const documents = store.documents<string>('settings');
        await documents.put('x', 'first');
        const written = await Promise.allSettled([
          documents.put('x', 'mine', { ifRevision: 1 }),
          documents.put('x', 'yours', { ifRevision: 1 }),
        ]);
        const refused = written.filter(({ status }) => status === 'rejected');
        expect(refused).toMatchObject([{ reason: { code: 'revision_conflict' } }]);
        const kept = written[0]?.status === 'fulfilled' ? 'mine' : 'yours';
        expect(await documents.get('x')).toMatchObject({ value: kept, revision: 2 });
      });

      it('creates only what is not there when revision 0 is asked for', async () => {
        const documents = store.documents<string>('settings');
        expect(await documents.put('x', 'new', { ifRevision: 0 })).toBe(1);
        await expect(documents.put('x', 'again', { ifRevision: 0 })).rejects.toMatchObject({
          code: 'revision_conflict',
        });
      });

      it('deletes under the same condition, and lists by id', async () => {
        const documents = store.documents<string>('settings');
        for (const id of ['b', 'a', 'c']) await documents.put(id, id);
        await expect(documents.delete('a', { ifRevision: 7 })).rejects.toMatchObject({ code: 'revision_conflict' });
        expect([await documents.delete('a', { ifRevision: 1 }), await documents.delete('a')]).toEqual([true, false]);
        expect((await documents.list()).map(({ id }) => id)).toEqual(['b', 'c']);
      });

      it('lists page by page', async () => {
        const documents = store.documents<string>('settings');
        for (const id of ['b', 'a', 'd', 'c']) await documents.put(id, id);
        const idsOf = async (options: { after?: string; limit?: number }): Promise<string[]> =>
          (await documents.list(options)).map(({ id }) => id);
        expect(await idsOf({ limit: 2 })).toEqual(['a', 'b']);
        expect(await idsOf({ after: 'b', limit: 2 })).toEqual(['c', 'd']);
        expect(await idsOf({ after: 'd' })).toEqual([]);
      });

      it('gives those with the lowest numbers, as they were written last', async () => {
        const documents = store.documents<string>('runs');
        await documents.put('late', 'x', { order: 2 ** 41 });
        await documents.put('soon', 'x', { order: 7 });
        await documents.put('first', 'x', { order: -1 });
        await documents.put('none', 'x');
        await documents.put('moved', 'x', { order: 1 });
        await documents.put('moved', 'y', { order: 7 });
        await documents.put('taken-out', 'x', { order: 2 });
        await documents.put('taken-out', 'x');
        await documents.put('deleted', 'x', { order: 3 });
        await documents.delete('deleted');
        await store.documents('other').put('foreign', 'x', { order: 0 });
        const found = await documents.earliest(10);
        expect(found.map(({ id, order }) => [id, order])).toEqual([
          ['first', -1],
          ['moved', 7],
          ['soon', 7],
          ['late', 2 ** 41],
        ]);
        expect(await documents.earliest(1)).toMatchObject([{ id: 'first', value: 'x', revision: 1 }]);
      });
    });

    describe('ledger', () => {
      const question = (id: string, more: { owner?: string; group?: string; expiresAtMs?: number } = {}) => ({
        id,
        owner: 'session/1',
        value: { text: `What is ${id}?` },
        ...more,
      });
      const answered = { as: 'answered' };

      it('gives an open entry to one of many takers', async () => {
        const ledger = store.ledger<Question>('questions');
        await ledger.put(question('q1'));
        const taken = await Promise.all(Array.from({ length: 8 }, () => ledger.take('q1', answered)));
        expect(present(taken)).toStrictEqual([
          {
            ...question('q1'),
            group: undefined,
            createdAtMs: clock.nowMs(),
            expiresAtMs: undefined,
            settlement: { as: 'answered', reason: undefined, atMs: clock.nowMs() },
          },
        ]);
      });

      it('tells whoever comes too late how the entry ended', async () => {
        const ledger = store.ledger<Question>('questions');
        await ledger.put(question('q1'));
        await ledger.take('q1', { as: 'cancelled', reason: 'server removed' });
        expect(await ledger.take('q1', answered)).toBeUndefined();
        expect((await ledger.get('q1'))?.settlement).toMatchObject({ as: 'cancelled', reason: 'server removed' });
      });

      it('can open a settled entry again, to be taken once more', async () => {
        const ledger = store.ledger<Question>('questions');
        await ledger.put(question('q1'));
        expect(await ledger.reopen('q1')).toBeUndefined();
        await ledger.take('q1', answered);
        expect((await ledger.reopen('q1'))?.settlement).toBeUndefined();
        expect(await ledger.take('q1', answered)).toBeDefined();
        expect(await ledger.take('q1', answered)).toBeUndefined();
      });

      it('refuses an id that was used before, open or settled', async () => {
        const ledger = store.ledger<Question>('questions');
        await ledger.put(question('q1'));
        await expect(ledger.put(question('q1'))).rejects.toMatchObject({ code: 'record_exists' });
        await ledger.take('q1', answered);
        await expect(ledger.put(question('q1'))).rejects.toMatchObject({ code: 'record_exists' });
        await store.ledger<Question>('tasks').put(question('q1'));
      });

      it('keeps the caps of an owner and of all, also among concurrent writers', async () => {
        const ledger = store.ledger<Question>('questions');
        const caps = { maxOpen: 3, maxOpenOfOwner: 2 };
        const put = (id: string, owner: string) => ledger.put(question(id, { owner }), caps);
        const owners = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
        const results = await Promise.allSettled(owners.map((owner, index) => put(`${index}`, owner)));
        const refused = results.filter((result) => result.status === 'rejected');
        expect(refused.map(({ reason }) => (reason as { code: string }).code)).toEqual(
          Array.from({ length: 5 }, () => 'limit_reached'),
        );
        expect(await ledger.count({ open: true })).toBe(3);
        for (const owner of ['a', 'b']) expect(await ledger.count({ open: true, owner })).toBeLessThanOrEqual(2);
      });

      it('says which cap was met, and has room again once an entry is settled', async () => {
        const ledger = store.ledger<Question>('questions');
        const caps = { maxOpen: 3, maxOpenOfOwner: 2 };
        const put = (id: string, owner: string) => ledger.put(question(id, { owner }), caps);
        for (const id of ['1', '2']) await put(id, 'a');
        await expect(put('3', 'a')).rejects.toMatchObject({ details: { limit: 2, scope: '"a"' } });
        await put('4', 'b');
        await expect(put('5', 'b')).rejects.toMatchObject({ details: { limit: 3, scope: 'This gateway' } });
        await ledger.take('1', answered);
        await put('6', 'a');
      });

      it('does not give out an entry whose time has passed, and settles it as expired once', async () => {
        const ledger = store.ledger<Question>('questions');
        const expiresAtMs = clock.nowMs() + minuteMs;
        for (const id of ['q1', 'q2']) await ledger.put(question(id, { expiresAtMs }));
        await ledger.put(question('later', { expiresAtMs: expiresAtMs + 1 }));
        await ledger.put(question('never'));
        expect(await ledger.nextExpiryMs()).toBe(expiresAtMs);
        expect(await ledger.expire()).toEqual([]);
        await ledger.take('q2', answered);
        await clock.advance(minuteMs);
        expect(await ledger.take('q1', answered)).toBeUndefined();
        const expired = await Promise.all([ledger.expire(), ledger.expire()]);
        expect(expired.flat()).toMatchObject([{ id: 'q1', settlement: { as: 'expired', atMs: expiresAtMs } }]);
        expect(await ledger.nextExpiryMs()).toBe(expiresAtMs + 1);
        expect(await ledger.count({ open: true })).toBe(2);
      });

      it('has no next expiry when nothing open expires', async () => {
        const ledger = store.ledger<Question>('questions');
        await ledger.put(question('never'));
        expect(await ledger.nextExpiryMs()).toBeUndefined();
      });

      it('loses no change of concurrent updates, also after the entry was settled', async () => {
        const ledger = store.ledger<Question>('questions');
        await ledger.put(question('q1'));
        const count = (value: Question): Question => ({ ...value, rounds: (value.rounds ?? 0) + 1 });
        await Promise.all([1, 2, 3, 4].map(() => ledger.update('q1', count)));
        await ledger.take('q1', { as: 'interrupted' });
        expect(await ledger.update('q1', count)).toMatchObject({
          value: { rounds: 5 },
          settlement: { as: 'interrupted' },
        });
        expect((await ledger.get('q1'))?.value.rounds).toBe(5);
        expect(await ledger.update('none', count)).toBeUndefined();
      });

      it('leaves an entry as it is when the change throws', async () => {
        const ledger = store.ledger<Question>('questions');
        await ledger.put(question('q1'));
        const fail = ledger.update('q1', () => {
          throw new RangeError('no');
        });
        await Promise.all([expect(fail).rejects.toThrow(RangeError), ledger.put(question('q2'))]);
        expect(await ledger.count({ open: true })).toBe(2);
      });

      it.each([
        [{}, ['1', '2', '3', '4']],
        [{ open: true }, ['1', '3', '4']],
        [{ open: false }, ['2']],
        [{ owner: 'a' }, ['1', '2']],
        [{ owner: 'b', group: 'mail' }, ['3']],
        [{ expiringBeforeMs: Date.UTC(2026, 0, 1, 1) }, ['3', '1']],
        [{ limit: 2 }, ['1', '2']],
      ])('lists what fits %j', async (filter, ids) => {
        const ledger = store.ledger<Question>('questions');
        const atMs = clock.nowMs();
        await ledger.put(question('1', { owner: 'a', expiresAtMs: atMs + 2 * minuteMs }));
        await ledger.put(question('2', { owner: 'a', expiresAtMs: atMs + 60 * minuteMs }));
        await ledger.take('2', answered);
        await clock.advance(1);
        await ledger.put(question('3', { owner: 'b', group: 'mail', expiresAtMs: atMs + minuteMs }));
        await ledger.put(question('4', { owner: 'b', group: 'wiki' }));
        expect((await ledger.list(filter)).map(({ id }) => id)).toEqual(ids);
        if (!('limit' in filter)) expect(await ledger.count(filter)).toBe(ids.length);
      });

      it('purges what was settled long ago and keeps what is open', async () => {
        const ledger = store.ledger<Question>('questions');
        for (const id of ['old', 'open', 'recent']) await ledger.put(question(id));
        await ledger.take('old', answered);
        await clock.advance(minuteMs);
        await ledger.take('recent', answered);
        expect(await ledger.purge(clock.nowMs())).toBe(1);
        expect((await ledger.list()).map(({ id }) => id)).toEqual(['open', 'recent']);
      });
    });

    describe('leases', () => {
      const acquire = async (owner: string): Promise<Lease> => {
        const lease = await store.leases.acquire('schedule', owner, minuteMs);
        if (!lease) throw new Error(`${owner} did not get the lease`);
        return lease;
      };

      it('has one owner at a time, and the next one has the higher fence', async () => {
        const { leases } = store;
        const both = await Promise.all(['a', 'b'].map((owner) => leases.acquire('schedule', owner, minuteMs)));
        const [first, ...none] = present(both);
        expect(first).toMatchObject({ fence: 1 });
        expect(none).toEqual([]);
        await clock.advance(minuteMs);
        const other = first?.ownerId === 'a' ? 'b' : 'a';
        expect(await leases.acquire('schedule', other, minuteMs)).toMatchObject({ ownerId: other, fence: 2 });
        expect(await leases.acquire('other', 'a', minuteMs)).toMatchObject({ fence: 1 });
      });

      it('is kept by renewing it in time', async () => {
        const lease = await acquire('a');
        await clock.advance(minuteMs - 1);
        expect(await store.leases.renew(lease, minuteMs)).toMatchObject({ fence: 1 });
        await clock.advance(minuteMs - 1);
        expect(await store.leases.isCurrent(lease)).toBe(true);
        expect(await store.leases.acquire('schedule', 'b', minuteMs)).toBeUndefined();
      });

      it('can be renewed after it ran out, unless somebody took it', async () => {
        const lease = await acquire('a');
        await clock.advance(2 * minuteMs);
        expect(await store.leases.isCurrent(lease)).toBe(false);
        expect(await store.leases.renew(lease, 1)).toBeDefined();
        await clock.advance(1);
        await acquire('b');
        expect(await store.leases.renew(lease, minuteMs)).toBeUndefined();
      });

      it('is free at once when it is released, and the fence goes on growing', async () => {
        const first = await acquire('a');
        await store.leases.release(first);
        expect(await store.leases.renew(first, minuteMs)).toBeUndefined();
        const second = await acquire('b');
        expect(second.fence).toBe(2);
        await store.leases.release(first);
        expect(await store.leases.isCurrent(second)).toBe(true);
      });

      it('goes to its own owner again, whose earlier lease is lost', async () => {
        const before = await acquire('a');
        const after = await acquire('a');
        expect(after.fence).toBe(before.fence + 1);
        expect([await store.leases.isCurrent(before), await store.leases.isCurrent(after)]).toEqual([false, true]);
      });

      it('guards writes: nothing is written once the lease is lost', async () => {
        const lease = await acquire('a');
        const guarded = store.withLease(lease);
        await guarded.keyValue('runs').set('last', 1);
        await clock.advance(minuteMs);
        await acquire('b');
        const lost = { code: 'lease_lost', details: { name: 'schedule', fence: 1 } };
        await expect(guarded.keyValue('runs').set('last', 2)).rejects.toMatchObject(lost);
        await expect(guarded.documents('runs').put('last', 2)).rejects.toMatchObject(lost);
        await expect(guarded.ledger('runs').put({ id: '1', owner: 'a', value: 2 })).rejects.toMatchObject(lost);
        expect((await guarded.keyValue('runs').get('last'))?.value).toBe(1);
        expect(await store.ledger('runs').count()).toBe(0);
      });
    });

    describe('secrets', () => {
      it('gives back what was put, until it is deleted', async () => {
        const { secrets } = store;
        await secrets.put('token', 'first');
        await secrets.put('token', 'schön ☃');
        expect(await secrets.get('token')).toBe('schön ☃');
        expect([await secrets.delete('token'), await secrets.delete('token')]).toEqual([true, false]);
        expect(await secrets.get('token')).toBeUndefined();
      });

      it('seals for other records, readable only in the same context', () => {
        const sealed = store.secrets.seal('continuation', 'task/1');
        expect(sealed).not.toContain('continuation');
        expect(store.secrets.open(sealed, 'task/1')).toBe('continuation');
        expect(() => store.secrets.open(sealed, 'task/2')).toThrow(
          expect.objectContaining({ code: 'secret_unreadable' }) as Error,
        );
      });
    });

    it('refuses work after it was closed, and may be closed twice', async () => {
      await store[Symbol.asyncDispose]();
      await expect(store.keyValue('a').get('a')).rejects.toMatchObject({ code: 'stopped' });
      await expect(store.keyValue('a').set('a', 1)).rejects.toMatchObject({ code: 'stopped' });
      await store[Symbol.asyncDispose]();
    });

    it('finishes what was under way when it is closed', async () => {
      const writes = [1, 2, 3].map((n) => store.keyValue('a').set(`${n}`, n));
      await store[Symbol.asyncDispose]();
      expect(await Promise.all(writes)).toEqual([true, true, true]);
    });
  });
};
