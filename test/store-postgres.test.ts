import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { configSchema } from '../packages/gantry/src/host/config/config-schema.ts';
import { readEnvironment } from '../packages/gantry/src/host/config/environment.ts';
import { systemClock } from '../packages/gantry/src/kernel/clock.ts';
import type { LogFacts } from '../packages/gantry/src/kernel/log.ts';
import { silentLog } from '../packages/gantry/src/kernel/log.ts';
import { parseMcpFile } from '../packages/gantry/src/mcp/bridge/config/mcp-file.ts';
import { migrations } from '../packages/gantry/src/store/sql/migrations.ts';
import type { PostgresStoreOptions } from '../packages/gantry/src/store/postgres/open-postgres-store.ts';
import { openPostgresStore } from '../packages/gantry/src/store/postgres/open-postgres-store.ts';
import type { Store } from '../packages/gantry/src/store/store.ts';
import { storeContract } from '../packages/gantry/src/testing/contracts/store-contract.ts';
import { testKeyring } from '../packages/gantry/src/testing/test-keyring.ts';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import type { PostgresServer } from './fixtures/postgres-server.ts';
import { hasPostgres, postgresPassword, startPostgresServer, withClient } from './fixtures/postgres-server.ts';

const open = (url: string, options: Partial<PostgresStoreOptions> = {}): Promise<Store> =>
  openPostgresStore({ url, clock: systemClock, keyring: testKeyring('k1'), log: silentLog, ...options });

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe.skipIf(!hasPostgres)('the store in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgresServer();
  }, 60_000);
  afterAll(() => server?.[Symbol.asyncDispose]());

  storeContract('as every store', async (clock) => open(await server.createDatabase(), { clock }));

  describe('shared by several processes', () => {
    it('brings the schema forward once when many start at the same time', async () => {
      const url = await server.createDatabase();
      const stores = await Promise.all(numbers(6).map(() => open(url, { maxConnections: 2 })));
      for (const store of stores) await store[Symbol.asyncDispose]();
      const { rows } = await withClient(url, (client) => client.query('select version from schema_version order by 1'));
      expect(rows).toEqual(migrations.map((_, index) => ({ version: index + 1 })));
    });

    it('leaves a store of a newer Gantry alone', async () => {
      const url = await server.createDatabase();
      await (await open(url))[Symbol.asyncDispose]();
      await withClient(url, (client) => client.query('insert into schema_version values (99, 0)'));
      await expect(open(url)).rejects.toMatchObject({
        code: 'store_too_new',
        details: { found: 99, supported: migrations.length },
      });
    });

    it('keeps to the schema that the URL asks for', async () => {
      const url = await server.createDatabase();
      await withClient(url, (client) => client.query('create schema one; create schema two'));
      const of = (schema: string): string => `${url}?options=-c%20search_path%3D${schema}`;
      await using one = await open(of('one'));
      await using two = await open(of('two'));
      await one.keyValue('space').set('a', 1);
      expect(await two.keyValue('space').count('')).toBe(0);
      const { rowCount } = await withClient(url, (client) => client.query('select * from one.key_value'));
      expect(rowCount).toBe(1);
    });

    it('gives each entry to one of several takers', async () => {
      const url = await server.createDatabase();
      await using one = await open(url);
      await using two = await open(url);
      const ids = numbers(40).map((index) => `q${index}`);
      await Promise.all(ids.map((id) => one.ledger('questions').put({ id, owner: 's', value: null })));
      const taken = await Promise.all(
        ids.flatMap((id) => [one, two].map((store) => store.ledger('questions').take(id, { as: 'answered' }))),
      );
      expect(taken.flatMap((entry) => entry?.id ?? []).toSorted()).toEqual(ids.toSorted());
    });

    it('keeps the caps and loses no update', async () => {
      const url = await server.createDatabase();
      await using one = await open(url);
      await using two = await open(url);
      await using three = await open(url);
      /** So many pieces of work, given to the three in turn. */
      const inTurn = <T>(count: number, work: (store: Store, index: number) => Promise<T>): Promise<T>[] =>
        numbers(count).map((index) => work([one, two, three][index % 3] ?? one, index));
      const question = (index: number) => ({ id: `q${index}`, owner: `s${index % 4}`, value: 0 });
      const results = await Promise.allSettled(
        inTurn(60, (store, index) =>
          store.ledger<number>('questions').put(question(index), { maxOpen: 21, maxOpenOfOwner: 10 }),
        ),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(21);
      const [{ id } = { id: '' }] = await one.ledger('questions').list();
      await Promise.all(inTurn(60, (store) => store.ledger<number>('questions').update(id, (value) => value + 1)));
      expect((await one.ledger('questions').get(id))?.value).toBe(60);
      const cap = { under: 'n', maxEntries: 7 };
      const written = await Promise.all(
        inTurn(30, (store, index) => store.keyValue('memory').set(`n/${index}`, 1, { cap })),
      );
      expect(written.filter(Boolean)).toHaveLength(7);
    });

    it('gives a lease to one of several owners', async () => {
      const url = await server.createDatabase();
      await using one = await open(url);
      await using two = await open(url);
      const names = numbers(20).map((index) => `lease${index}`);
      const claims = await Promise.all(
        names.flatMap((name) => [one.leases.acquire(name, 'one', 60_000), two.leases.acquire(name, 'two', 60_000)]),
      );
      expect(claims.flatMap((lease) => lease?.name ?? []).toSorted()).toEqual(names.toSorted());
    });

    it('lets no guarded write through beside the acquisition that ends its lease', async () => {
      const url = await server.createDatabase();
      await using one = await open(url);
      await using two = await open(url);
      for (const round of numbers(10)) {
        const name = `lease${round}`;
        const lease = await one.leases.acquire(name, 'owner', 60_000);
        if (!lease) throw new Error('nobody else wants it');
        const runs = one.withLease(lease).documents<number>('runs');
        // The owner itself asks again, in another process: what was written before counts, nothing after it.
        const [written, [after, next]] = await Promise.all([
          Promise.allSettled(numbers(8).map((index) => runs.put(`${round}/${index}`, index))),
          two.leases
            .acquire(name, 'owner', 60_000)
            .then(async (taken) => [(await two.documents('runs').list()).length, taken] as const),
        ]);
        expect(next?.fence).toBe(2);
        expect((await two.documents('runs').list()).length).toBe(after);
        for (const result of written)
          if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'lease_lost' });
      }
    });
  });

  describe('when something fails', () => {
    it('goes on after the server was stopped and started, and says meanwhile what is wrong', async () => {
      await using own = await startPostgresServer();
      const lines: LogFacts[] = [];
      const log = { ...silentLog, warn: (facts: LogFacts) => void lines.push(facts) };
      const url = await own.createDatabase();
      await using store = await open(url, { log });
      const values = store.keyValue<number>('space');
      await Promise.all(numbers(5).map((index) => values.set(`${index}`, index)));
      await own.stop('SIGINT');
      const failure = await values.set('x', 1).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: 'store_unavailable',
        retry: 'later',
        message: expect.stringMatching(
          `PostgreSQL at 127.0.0.1:${own.port}/gantry_1 cannot be used: .*GANTRY_STORE|gantry doctor`,
        ),
      });
      await expect(values.get('1')).rejects.toMatchObject({ code: 'store_unavailable' });
      await own.start();
      expect(await values.set('x', 2)).toBe(true);
      expect(await values.count('')).toBe(6);
      expect(lines.length).toBeGreaterThan(0);
      expect(JSON.stringify(lines)).not.toContain(postgresPassword);
    }, 60_000);

    it('gives up a connection whose transaction the server ended, and nothing of it is written', async () => {
      const url = await server.createDatabase();
      await using store = await open(url, { maxConnections: 1 });
      const ledger = store.ledger<number>('l');
      await ledger.put({ id: 'a', owner: 'o', value: 1 });
      await withClient(url, async (client) => {
        // Holds the entry, so that the write below waits inside its transaction.
        await client.query("begin; select * from ledger where id = 'a' for update");
        const waiting = ledger.take('a', { as: 'done' });
        const expected = expect(waiting).rejects.toMatchObject({ code: 'store_unavailable' });
        await untilWaiting(client);
        await client.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gantry' and datname = current_database()",
        );
        await expected;
        await client.query('rollback');
      });
      expect((await ledger.get('a'))?.settlement).toBeUndefined();
      expect(await ledger.take('a', { as: 'done' })).toBeDefined();
    });

    it('says that nobody knows when the acknowledgement of a commit is lost, and does not repeat the write', async () => {
      await using relay = await startRelay(server.port);
      const url = await server.createDatabase();
      await using store = await open(url.replace(`:${server.port}/`, `:${relay.port}/`));
      await using witness = await open(url);
      relay.cutAfterNextCommit();
      await expect(store.ledger('l').put({ id: 'a', owner: 'o', value: 1 })).rejects.toMatchObject({
        code: 'store_unavailable',
        retry: 'never',
        details: { isInDoubt: true },
        message: expect.stringContaining('not known whether it took place') as string,
      });
      // It did; the entry is there once.
      await expect.poll(() => witness.ledger('l').count()).toBe(1);
      await expect(store.ledger('l').put({ id: 'a', owner: 'o', value: 1 })).rejects.toMatchObject({
        code: 'record_exists',
      });
    });

    it('leaves errors of the work alone', async () => {
      await using store = await open(await server.createDatabase(), { maxConnections: 1 });
      await store.ledger('l').put({ id: 'a', owner: 'o', value: 1 });
      const failing = store.ledger('l').update('a', () => {
        throw new RangeError('no');
      });
      await expect(failing).rejects.toThrow(RangeError);
      expect(await store.ledger('l').count()).toBe(1);
    });

    it('refuses a key that an index cannot hold', async () => {
      await using store = await open(await server.createDatabase());
      const key = numbers(4000)
        .map(() => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000)))
        .join('');
      await expect(store.keyValue('space').set(key, 1)).rejects.toMatchObject({ code: 'invalid_arguments' });
    });

    it.each([
      [
        'nobody listens',
        (url: string) => url.replace(/:\d+\//, ':1/'),
        /127\.0\.0\.1:1\/gantry_\d+ cannot be used: .*ECONNREFUSED/,
      ],
      [
        'the password is wrong',
        (url: string) => url.replace(':pass-of', ':another-pass-of'),
        /refuses the user or the password/,
      ],
      ['there is no such database', (url: string) => `${url}_x`, /gantry_\d+_x cannot be used: .*Create the database/],
      ['the server knows no TLS', (url: string) => `${url}?sslmode=verify-full`, /SSL/],
    ])('does not start when %s, and shows no password', async (_, change, message) => {
      const failure = await open(change(await server.createDatabase())).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'store_unavailable', message: expect.stringMatching(message) as string });
      const all = JSON.stringify(failure) + String(failure) + String((failure as Error).cause);
      expect(all).not.toContain(postgresPassword);
    });

    it('does not wait without end for a server that says nothing', async () => {
      const silent = createServer(() => {}).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const failure = await open(`postgres://u:p@127.0.0.1:${port}/d`).catch((error: unknown) => error);
      silent.close();
      expect(failure).toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('timeout') as string,
      });
    }, 20_000);
  });

  describe('under a gateway', () => {
    const key = 'one-key-for-all-replicas';
    const inFolder = async (work: (folder: GantryFolder) => Promise<void>): Promise<void> => {
      using folder = makeGantryFolder();
      await work(folder);
    };
    const envOf = (url: string, secret?: string): Record<string, string> => ({
      GANTRY_STORE__URL: url,
      ...(secret !== undefined && { GANTRY_CRYPTO_SECRET: secret }),
    });

    it('is named without user and password wherever settings are shown', () =>
      inFolder(async (folder) => {
        const url = await server.createDatabase();
        const printed = await folder.run(['config', 'print'], { env: envOf(url, key) });
        expect(printed.stdout).toContain(`127.0.0.1:${server.port}/gantry_`);
        const examined = await folder.run(['doctor'], { env: envOf(url, key) });
        expect(examined.stdout).toMatch(new RegExp(`PostgreSQL, 127\\.0\\.0\\.1:${server.port}/gantry_\\d+\n`));
        const withFile = await folder.run(['doctor'], { env: envOf(url) });
        for (const { stdout, stderr } of [printed, examined, withFile])
          expect(stdout + stderr).not.toContain(postgresPassword);
      }));

    it('is refused to a process with another key, and opened with a newer one beside the old', () =>
      inFolder(async (folder) => {
        const url = await server.createDatabase();
        const list = (env: Record<string, string>) =>
          folder.run(['tokens', 'list'], { env: { GANTRY_STORE__URL: url, ...env } });
        expect((await list({ GANTRY_CRYPTO_SECRET: key })).code).toBe(0);
        const refused = await list({ GANTRY_CRYPTO_SECRET: 'another-key-of-16-characters' });
        expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('same GANTRY_CRYPTO_SECRET')]);
        // Its own key file is no better.
        expect((await list({})).code).toBe(2);
        const both = { GANTRY_CRYPTO_SECRET: key, GANTRY_CRYPTO_SECRET_V2: 'a-newer-key-of-ours' };
        expect((await list(both)).code).toBe(0);
        expect((await list({ GANTRY_CRYPTO_SECRET: key })).code).toBe(2);
      }));

    it('is said to be away at the start, and by readyz later', () =>
      inFolder(async (folder) => {
        await using own = await startPostgresServer();
        const url = await own.createDatabase();
        await using gateway = await folder.serve(['--port', '0'], envOf(url, key));
        const ready = async (): Promise<number> => (await fetch(`${gateway.url}/readyz`)).status;
        expect(await ready()).toBe(200);
        await own.stop('SIGINT');
        await expect.poll(ready).toBe(503);
        const failed = await folder.run(['tokens', 'list', '--data', 'other'], { env: envOf(url, key) });
        expect([failed.code, failed.stderr]).toEqual([
          2,
          expect.stringMatching(`PostgreSQL at 127.0.0.1:${own.port}/gantry_1 cannot be used: .*ECONNREFUSED`),
        ]);
        await own.start();
        await expect.poll(ready).toBe(200);
        expect(failed.stderr + gateway.stderr()).not.toContain(postgresPassword);
        expect(await gateway.stop()).toBe(0);
      }));

    it('is checked as an address before anything starts', () =>
      inFolder(async (folder) => {
        const wrong = await folder.run(['config', 'check'], { env: envOf('mysql://root:hunter2@localhost/x') });
        expect([wrong.code, wrong.stderr + wrong.stdout]).toEqual([2, expect.stringContaining('GANTRY_STORE__URL')]);
        expect(wrong.stderr + wrong.stdout).not.toContain('hunter2');
      }));
  });

  it('has every write that was acknowledged before the server was killed', async () => {
    await using own = await startPostgresServer({ waitsForDisk: true });
    const url = await own.createDatabase();
    const acknowledged: string[] = [];
    for (const round of numbers(3)) {
      const writers = [1, 2].map((process) => startWriter(url, `${round}.${process}`));
      await Promise.all(writers.map((writer) => writer.until(100 + Math.floor(Math.random() * 300))));
      await own.stop('SIGKILL');
      acknowledged.push(...(await Promise.all(writers.map((writer) => writer.ended()))).flat());
      await own.start();
      await using store = await open(url);
      const missing: string[] = [];
      for (const line of acknowledged) if (!(await isThere(store, line))) missing.push(line);
      expect(missing).toEqual([]);
    }
    expect(acknowledged.length).toBeGreaterThan(600);
  }, 120_000);
});

describe('deploy/kubernetes/gateways.yaml', () => {
  const objects = parseAllDocuments(
    readFileSync(join(import.meta.dirname, '../deploy/kubernetes/gateways.yaml'), 'utf8'),
  ).map((document) => document.toJS() as Record<string, never>);
  const byKind = (kind: string): Record<string, never> => objects.find((each) => each['kind'] === kind) ?? {};

  it('sets what there is to set', () => {
    const { containers } = (byKind('Deployment') as unknown as Deployment).spec.template.spec;
    const values: Record<string, string> = { GANTRY_STORE__URL: 'postgres://user:password@host:5432/gantry' };
    const env = containers[0]?.env.map(({ name, value }) => [name, value ?? values[name] ?? 'a secret of the cluster']);
    const { config, warnings } = readEnvironment(Object.fromEntries(env ?? []));
    expect(warnings).toEqual([]);
    expect(configSchema.parse(config).store).toEqual({ url: values['GANTRY_STORE__URL'], maxConnections: 10 });
  });

  it('names servers with their ids, since no gateway can write them', () => {
    const { data } = byKind('ConfigMap') as unknown as { readonly data: Record<string, string> };
    const { entries, refused } = parseMcpFile(data['mcp.json'] ?? '', 'mcp.json');
    expect(refused.size).toBe(0);
    for (const entry of entries.values()) expect(entry.id).toMatch(/^[0-9a-f]{12}$/);
  });
});

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value?: string }[] }[];
      };
    };
  };
}

/** Resolves once a session of the same database waits for a lock. */
const untilWaiting = async (client: { query(text: string): Promise<{ rowCount: number | null }> }): Promise<void> => {
  const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1);
};

/** Passes bytes to the server and back; after `cutAfterNextCommit` the next commit goes there, and its answer never comes. */
const startRelay = async (target: number) => {
  let isCutting = false;
  const relay = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    upstream.on('data', (bytes) => client.write(bytes));
    client.on('data', (bytes) => {
      if (isCutting && bytes.includes('commit\0')) {
        isCutting = false;
        upstream.removeAllListeners('data');
        upstream.once('data', () => {
          client.destroy();
          upstream.destroy();
        });
      }
      upstream.write(bytes);
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  return {
    port: (relay.address() as AddressInfo).port,
    cutAfterNextCommit: () => void (isCutting = true),
    [Symbol.asyncDispose]: async () => void relay.close(),
  };
};

const writerFile = join(import.meta.dirname, 'fixtures/store-writer.ts');

/** A process that writes until its store fails. */
const startWriter = (url: string, prefix: string) => {
  const child = spawn(process.execPath, [writerFile, url, prefix], { stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const input = createInterface({ input: child.stdout });
  const closed = once(input, 'close');
  input.on('line', (line) => {
    lines.push(line);
    for (const { count, resolve } of waiting) if (lines.length >= count) resolve();
  });
  return {
    until: (count: number) => new Promise<void>((resolve) => waiting.push({ count, resolve })),
    ended: async (): Promise<string[]> => {
      await Promise.all([exited, closed]);
      return lines;
    },
  };
};

const isThere = async (store: Store, line: string): Promise<boolean> => {
  const [what, id = ''] = line.split(' ');
  switch (what) {
    case 'value':
      return (await store.keyValue<string>('values').get(id))?.value === id.repeat(20);
    case 'document':
      return (await store.documents<string>('documents').get(id))?.value === id;
    case 'open':
      return (await store.ledger<string>('ledger').get(id))?.value === id;
    default:
      return (await store.ledger<string>('ledger').get(id))?.settlement?.as === 'done';
  }
};
