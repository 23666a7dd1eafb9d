import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import type { Log, LogFacts } from '../../kernel/log.ts';
import { silentLog } from '../../kernel/log.ts';
import { storeContract } from '../../testing/contracts/store-contract.ts';
import { testKeyring } from '../../testing/test-keyring.ts';
import { migrations } from '../sql/migrations.ts';
import { openSqliteStore } from './open-sqlite-store.ts';

let folder: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-store-'));
});
afterAll(() => rm(folder, { recursive: true }));

const newFile = (): string => join(folder, `${(files += 1)}`, 'store.db');
const open = (path: string, options: { keyring?: ReturnType<typeof testKeyring>; log?: Log } = {}) =>
  openSqliteStore({ path, clock: systemClock, keyring: testKeyring('k1'), log: silentLog, ...options });

storeContract('SQLite store in memory', (clock) =>
  openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog }),
);
storeContract('SQLite store in a file', (clock) =>
  openSqliteStore({ path: newFile(), clock, keyring: testKeyring('k1'), log: silentLog }),
);

describe('openSqliteStore', () => {
  it('makes the folder, and a file that only its owner reads', async () => {
    const path = newFile();
    await using store = await open(path);
    await store.keyValue('a').set('a', 1);
    for (const file of [path, `${path}-wal`]) expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('has everything again after it was closed and opened', async () => {
    const path = newFile();
    {
      await using store = await open(path);
      await store.keyValue('a').set('a', 1, { ttlMs: 3_600_000 });
      await store.ledger('questions').put({ id: 'q', owner: 's', value: 'text' });
      await store.secrets.put('token', 'secret');
    }
    await using store = await open(path);
    expect((await store.keyValue('a').get('a'))?.value).toBe(1);
    expect(await store.ledger('questions').count({ open: true })).toBe(1);
    expect(await store.secrets.get('token')).toBe('secret');
  });

  it('brings the schema forward once when two start at the same time', async () => {
    const path = newFile();
    const stores = await Promise.all([open(path), open(path), open(path)]);
    for (const store of stores) await store[Symbol.asyncDispose]();
    using database = new DatabaseSync(path);
    expect(database.prepare('select count(*) as steps from schema_version').get()).toEqual({
      steps: migrations.length,
    });
  });

  it('leaves a store of a newer Gantry alone', async () => {
    const path = newFile();
    await (await open(path))[Symbol.asyncDispose]();
    const edit = new DatabaseSync(path);
    edit.exec('insert into schema_version values (99, 0)');
    edit.close();
    const before = await readFile(path);
    await expect(open(path)).rejects.toMatchObject({
      code: 'store_too_new',
      details: { found: 99, supported: migrations.length },
    });
    expect((await readFile(path)).equals(before)).toBe(true);
  });

  it('says which file is not a store', async () => {
    const path = newFile();
    await (await open(path))[Symbol.asyncDispose]();
    await writeFile(path, 'this is no database, but long enough to look like a file of some kind'.repeat(20));
    await expect(open(path)).rejects.toMatchObject({ code: 'store_unavailable', details: { path } });
  });

  it('says that the folder cannot be made', async () => {
    await expect(open('/dev/null/store.db')).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('gives an entry to one of several takers on different connections', async () => {
    const path = newFile();
    await using one = await open(path);
    await using two = await open(path);
    const ids = Array.from({ length: 40 }, (_, n) => `q${n}`);
    await Promise.all(ids.map((id) => one.ledger('questions').put({ id, owner: 's', value: null })));
    const taken = await Promise.all(
      ids.flatMap((id) => [one, two].map((store) => store.ledger('questions').take(id, { as: 'answered' }))),
    );
    expect(taken.flatMap((entry) => entry?.id ?? []).sort()).toEqual(ids.toSorted());
  });

  it('gives a lease to one of several owners on different connections', async () => {
    const path = newFile();
    await using one = await open(path);
    await using two = await open(path);
    const names = Array.from({ length: 20 }, (_, n) => `lease${n}`);
    const claims = await Promise.all(
      names.flatMap((name) => [one.leases.acquire(name, 'one', 60_000), two.leases.acquire(name, 'two', 60_000)]),
    );
    expect(claims.flatMap((lease) => lease?.name ?? []).sort()).toEqual(names.toSorted());
  });

  it('undoes only the write that failed of those that share a commit', async () => {
    await using store = await open(':memory:');
    const ledger = store.ledger('questions');
    const put = (id: string) => ledger.put({ id, owner: 's', value: null });
    const results = await Promise.allSettled([put('1'), put('1'), put('2')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await ledger.count()).toBe(2);
  });

  it('keeps 10,000 open entries without a timer each', async () => {
    await using store = await open(':memory:');
    const ledger = store.ledger('questions');
    const expiresAtMs = Date.now() + 3_600_000;
    await Promise.all(
      Array.from({ length: 10_000 }, (_, n) =>
        ledger.put({ id: `q${n}`, owner: `s${n % 100}`, expiresAtMs, value: n }),
      ),
    );
    expect(await ledger.count({ open: true, owner: 's7' })).toBe(100);
    expect(await ledger.nextExpiryMs()).toBe(expiresAtMs);
  });
});

describe('secrets in the file', () => {
  it('are never written in plain text', async () => {
    const path = newFile();
    await using store = await open(path);
    await store.secrets.put('token', 'plaintext-marker');
    await store.ledger('tasks').put({ id: 't', owner: 's', value: store.secrets.seal('plaintext-marker', 't') });
    for (const file of [path, `${path}-wal`]) expect((await readFile(file)).includes('plaintext-marker')).toBe(false);
  });

  it('do not open under another name', async () => {
    const path = newFile();
    await using store = await open(path);
    await store.secrets.put('mine', 'secret');
    await store.secrets.put('yours', 'other');
    using database = new DatabaseSync(path);
    database.exec("update secret set sealed = (select sealed from secret where name = 'mine') where name = 'yours'");
    await expect(store.secrets.get('yours')).rejects.toMatchObject({ code: 'secret_unreadable' });
  });

  it('are encrypted anew under the current key when they are read', async () => {
    const path = newFile();
    await using before = await open(path, { keyring: testKeyring('k1') });
    await before.secrets.put('token', 'secret');
    await using after = await open(path, { keyring: testKeyring('k1', 'k2') });
    expect(await after.secrets.get('token')).toBe('secret');
    await using later = await open(path, { keyring: testKeyring('k2') });
    expect(await later.secrets.get('token')).toBe('secret');
    await expect(before.secrets.get('token')).rejects.toMatchObject({
      code: 'secret_unreadable',
      details: { name: 'token', keyId: 'k2' },
    });
  });

  it('are rotated all at once, except those whose key is gone', async () => {
    const path = newFile();
    const logged: LogFacts[] = [];
    for (const id of ['k0', 'k1']) {
      await using store = await open(path, { keyring: testKeyring(id) });
      await store.secrets.put(`of ${id}`, 'secret');
    }
    const log: Log = { ...silentLog, error: (facts) => void logged.push(facts) };
    await using store = await open(path, { keyring: testKeyring('k1', 'k2'), log });
    expect(await store.secrets.rotate()).toEqual({ resealed: 1, unreadable: 1 });
    expect(logged).toMatchObject([{ name: 'of k0', keyId: 'k0' }]);
    expect(await store.secrets.rotate()).toEqual({ resealed: 0, unreadable: 1 });
  });
});
