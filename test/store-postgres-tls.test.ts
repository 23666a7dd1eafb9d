import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../packages/gantry/src/kernel/clock.ts';
import { silentLog } from '../packages/gantry/src/kernel/log.ts';
import { openPostgresStore } from '../packages/gantry/src/store/postgres/open-postgres-store.ts';
import type { Store } from '../packages/gantry/src/store/store.ts';
import { testKeyring } from '../packages/gantry/src/testing/test-keyring.ts';
import type { CertificateAuthority } from './fixtures/certificates.ts';
import { makeAuthority } from './fixtures/certificates.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import type { PostgresServer } from './fixtures/postgres-server.ts';
import { hasPostgres, postgresPassword, startPostgresServer, withClient } from './fixtures/postgres-server.ts';

describe.skipIf(!hasPostgres)('the store in PostgreSQL over TLS', () => {
  const open = new AsyncDisposableStack();
  let own: CertificateAuthority;
  let other: CertificateAuthority;
  let server: PostgresServer;
  beforeAll(async () => {
    own = open.use(makeAuthority('own'));
    other = open.use(makeAuthority('other'));
    server = open.use(await startPostgresServer({ certificate: own.sign('localhost') }));
  }, 60_000);
  afterAll(() => open.disposeAsync());

  const openStore = (url: string): Promise<Store> =>
    openPostgresStore({ url, clock: systemClock, keyring: testKeyring('k1'), log: silentLog });
  const secure = (url: string, { caFile = own.caFile, host = 'localhost' } = {}): string =>
    `${url.replace('127.0.0.1', host)}?sslmode=verify-full&sslrootcert=${encodeURIComponent(caFile)}`;

  it('opens with the authority that signed for the server, and nothing goes in the clear', async () => {
    const url = await server.createDatabase();
    await using store = await openStore(secure(url));
    await store.keyValue('kv').set('a', 1);
    const { rows } = await withClient(url, (client) =>
      client.query(
        "select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'gantry'",
      ),
    );
    expect(rows).toEqual([{ ssl: true }]);
  });

  it.each([
    ['another authority', () => ({ caFile: other.caFile }), /"sslrootcert"/],
    ['a file that is not there', () => ({ caFile: '/nowhere/ca.pem' }), /name files that this process can read/],
  ])('refuses %s, and says what to do', async (_what, more, advice) => {
    const url = secure(await server.createDatabase(), more());
    const refusal: unknown = await openStore(url).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'store_unavailable', message: expect.stringMatching(advice) as string });
    expect(String(refusal)).not.toContain(postgresPassword);
  });

  it('refuses a server whose certificate is for another host', async () => {
    await using elsewhere = await startPostgresServer({ certificate: own.sign('db.example') });
    await expect(openStore(secure(await elsewhere.createDatabase()))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('for another host') as string,
    });
  });

  it('refuses a server without TLS', async () => {
    await using plain = await startPostgresServer();
    await expect(openStore(secure(await plain.createDatabase()))).rejects.toMatchObject({
      message: expect.stringContaining('Turn TLS on in the server') as string,
    });
  });

  it('serves a gateway, and ends one that has the wrong authority with exit code 2', async () => {
    const url = await server.createDatabase();
    using folder = makeGantryFolder();
    const env = { GANTRY_CRYPTO_SECRET: 'a key of this test', GANTRY_STORE__URL: secure(url) };
    {
      await using gateway = await folder.serve(['--port', '0'], env);
      expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    }
    const wrong = { ...env, GANTRY_STORE__URL: secure(url, { caFile: other.caFile }) };
    const refused = await folder.run(['serve', '--port', '0'], { env: wrong });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('"sslrootcert"') as string]);
    expect(refused.stderr).not.toContain(postgresPassword);
  }, 60_000);
});
