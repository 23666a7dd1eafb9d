import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../packages/gantry/src/kernel/clock.ts';
import { silentLog } from '../packages/gantry/src/kernel/log.ts';
import { openSqliteStore } from '../packages/gantry/src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../packages/gantry/src/store/store.ts';
import { fakeClock } from '../packages/gantry/src/testing/fake-clock.ts';
import type { BridgeHarness } from './fixtures/bridge-harness.ts';
import { startBridge } from './fixtures/bridge-harness.ts';
import type { OauthServer } from './fixtures/oauth-server.ts';
import { startOauthServer } from './fixtures/oauth-server.ts';
import { startProtectedServer } from './fixtures/protected-server.ts';
import { startRawServer } from './fixtures/raw-server.ts';

const id = 'aaaaaaaaaaaa';
const redirectUrl = 'http://127.0.0.1:9/callback';

let store: Store;

beforeEach(async () => {
  const keyring = { currentId: 'k', keys: new Map([['k', randomBytes(32)]]) };
  store = await openSqliteStore({ path: ':memory:', clock: systemClock, keyring, log: silentLog });
});
afterEach(() => store[Symbol.asyncDispose]());

const signIn = async (t: BridgeHarness, oauth: OauthServer): Promise<void> => {
  const { authorizationUrl, state } = await t.bridge.startSignIn('s', redirectUrl);
  const back = await oauth.agree(authorizationUrl ?? '');
  expect(back.searchParams.get('state')).toBe(state);
  const status = await t.bridge.finishSignIn({ state: state ?? '', code: back.searchParams.get('code') ?? '' });
  expect(status).toMatchObject({ state: 'connected', tools: 1 });
};

describe('a server that wants a sign-in', () => {
  it('says so with what to run, takes an authorization code with PKCE, and stays signed in over a restart', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    await using t = await startBridge({ s: { id, url: server.url } }, { store });
    await t.bridge.ready();
    expect(t.bridge.server('s')).toMatchObject({
      state: 'needs_login',
      lastError: expect.stringContaining('gantry servers login s') as string,
    });
    expect(await t.call('s', 'echo')).toMatchObject({ failure: { code: 'auth_required', retry: 'never' } });
    const { authorizationUrl } = await t.bridge.startSignIn('s', redirectUrl);
    expect(Object.fromEntries(new URL(authorizationUrl ?? '').searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'client-1',
      code_challenge_method: 'S256',
      redirect_uri: redirectUrl,
      scope: 'tools',
      resource: server.url,
    });
    await signIn(t, oauth);
    expect(await t.text('s', 'echo', { a: 1 })).toBe('{"a":1}');
    await t.bridge[Symbol.asyncDispose]();

    await using again = await startBridge({ s: { id, url: server.url } }, { store });
    await again.bridge.ready();
    expect(again.bridge.server('s')?.state).toBe('connected');
    expect(oauth.grants).toEqual(['authorization_code']);
  });

  it('keeps its tokens encrypted only, and nobody else gets them', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    await using elsewhere = await startRawServer();
    await using t = await startBridge({ s: { id, url: server.url } }, { store });
    await t.bridge.ready();
    await signIn(t, oauth);
    const kept = JSON.parse((await store.secrets.get(`mcp-oauth/${id}`)) ?? '') as { tokens: { access_token: string } };
    expect(oauth.accepts({ headers: { authorization: `Bearer ${kept.tokens.access_token}` } })).toBe(true);
    expect(JSON.stringify([t.log, await store.documents('mcp-catalog').list()])).not.toContain(
      kept.tokens.access_token,
    );
    await t.write({ s: { id, url: elsewhere.url } });
    await t.bridge.reload();
    expect(await t.text('s', 'echo', {})).toBe('{}');
    expect(elsewhere.seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    await t.bridge.remove('s');
    await expect.poll(() => store.secrets.get(`mcp-oauth/${id}`)).toBeUndefined();
  });

  it('has an expired token renewed once for all calls that wait', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    await using t = await startBridge({ s: { id, url: server.url } }, { store });
    await t.bridge.ready();
    await signIn(t, oauth);
    oauth.expire();
    const outcomes = await Promise.all([1, 2, 3, 4].map((n) => t.text('s', 'echo', { n })));
    expect(outcomes).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}']);
    expect(oauth.grants).toEqual(['authorization_code', 'refresh_token']);
    const kept = JSON.parse((await store.secrets.get(`mcp-oauth/${id}`)) ?? '') as { tokens: { access_token: string } };
    expect(oauth.accepts({ headers: { authorization: `Bearer ${kept.tokens.access_token}` } })).toBe(true);
  });

  it('has a token renewed before it expires', async () => {
    await using oauth = await startOauthServer({ expiresInSeconds: 100 });
    await using server = await startProtectedServer(oauth);
    const clock = fakeClock();
    await using t = await startBridge({ s: { id, url: server.url } }, { store, clock });
    await t.bridge.ready();
    await signIn(t, oauth);
    await clock.advance(60_000);
    await t.call('s', 'echo', {});
    expect(oauth.grants).toEqual(['authorization_code']);
    await clock.advance(15_000);
    const before = server.seen.length;
    expect(await t.text('s', 'echo', {})).toBe('{}');
    expect(oauth.grants).toEqual(['authorization_code', 'refresh_token']);
    expect(server.seen).toHaveLength(before + 1);
  });

  it('takes the newer tokens of another process instead of losing them', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    await using one = await startBridge({ s: { id, url: server.url } }, { store });
    await one.bridge.ready();
    await signIn(one, oauth);
    await using two = await startBridge({ s: { id, url: server.url } }, { store });
    await two.bridge.ready();
    oauth.expire();
    expect(await one.text('s', 'echo', {})).toBe('{}');
    expect(await two.text('s', 'echo', {})).toBe('{}');
    expect(oauth.grants).toEqual(['authorization_code', 'refresh_token']);
  });

  it('is signed in to for every process on the store, and finished by another than the one that began', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    await using one = await startBridge({ s: { id, url: server.url } }, { store });
    const clock = fakeClock();
    await using two = await startBridge({ s: { id, url: server.url } }, { store, clock });
    await using three = await startBridge({ s: { id, url: server.url } }, { store });
    for (const { bridge } of [one, two, three]) await bridge.ready();
    const { authorizationUrl, state } = await one.bridge.startSignIn('s', redirectUrl);
    const back = await oauth.agree(authorizationUrl ?? '');
    const answer = { state: state ?? '', code: back.searchParams.get('code') ?? '' };
    expect(await three.bridge.finishSignIn(answer)).toMatchObject({ state: 'connected' });
    await expect(one.bridge.finishSignIn(answer)).rejects.toThrow('No sign-in waits');
    // The next call, and the next look at what is down.
    expect(await one.text('s', 'echo', {})).toBe('{}');
    expect(two.bridge.server('s')?.state).toBe('needs_login');
    await clock.advance(60_000);
    await expect.poll(() => two.bridge.server('s')?.state).toBe('connected');
    expect(oauth.grants).toEqual(['authorization_code']);
  });

  it('has its refresh token used once when several processes renew at the same time', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    await using one = await startBridge({ s: { id, url: server.url } }, { store });
    await one.bridge.ready();
    await signIn(one, oauth);
    await using two = await startBridge({ s: { id, url: server.url } }, { store });
    await two.bridge.ready();
    oauth.expire();
    const texts = await Promise.all([one, two, one, two].map((each) => each.text('s', 'echo', {})));
    expect(texts).toEqual(['{}', '{}', '{}', '{}']);
    expect(oauth.grants).toEqual(['authorization_code', 'refresh_token']);
  });

  it('is not signed in to when it moved to another address meanwhile', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    await using elsewhere = await startProtectedServer(oauth);
    await using t = await startBridge({ s: { id, url: server.url } }, { store });
    await t.bridge.ready();
    const { authorizationUrl, state } = await t.bridge.startSignIn('s', redirectUrl);
    const back = await oauth.agree(authorizationUrl ?? '');
    await t.write({ s: { id, url: elsewhere.url } });
    await t.bridge.reload();
    const answer = { state: state ?? '', code: back.searchParams.get('code') ?? '' };
    await expect(t.bridge.finishSignIn(answer)).rejects.toThrow('No sign-in waits');
    expect(oauth.grants).toEqual([]);
  });

  it('wants a person again when its token cannot be renewed, and asks the authorization server once', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    await using t = await startBridge({ s: { id, url: server.url } }, { store });
    await t.bridge.ready();
    await signIn(t, oauth);
    oauth.expire({ refreshTokens: true });
    const failures = await Promise.all([1, 2, 3].map((n) => t.call('s', 'echo', { n })));
    for (const outcome of failures)
      expect(outcome).toMatchObject({
        failure: { code: 'auth_required', message: expect.stringContaining('gantry servers login s') as string },
      });
    expect(t.bridge.server('s')?.state).toBe('needs_login');
    await t.call('s', 'echo');
    expect(oauth.grants).toEqual(['authorization_code', 'refresh_token']);
    await signIn(t, oauth);
    expect(await t.text('s', 'echo', {})).toBe('{}');
  });

  it('is signed in to by a client with its secret, without anybody', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    const env = { ...process.env, MACHINE_SECRET: 's3cret' };
    const entry = {
      id,
      url: server.url,
      oauth: { grant: 'client_credentials', clientId: 'machine', clientSecret: '${MACHINE_SECRET}' },
    };
    await using t = await startBridge({ s: entry }, { store, env });
    await t.bridge.ready();
    expect(t.bridge.server('s')?.state).toBe('connected');
    oauth.expire();
    await Promise.all([1, 2].map((n) => t.text('s', 'echo', { n })));
    expect(oauth.grants).toEqual(['client_credentials', 'client_credentials']);
    expect(await t.bridge.startSignIn('s', redirectUrl)).toEqual({ authorizationUrl: null, state: null });
  });

  it('with a wrong client says why', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    const entry = { id, url: server.url, oauth: { grant: 'client_credentials', clientId: 'x', clientSecret: 'y' } };
    await using t = await startBridge({ s: entry }, { store });
    await t.bridge.ready();
    expect(t.bridge.server('s')).toMatchObject({ state: 'needs_login' });
    expect(t.bridge.server('s')?.lastError).toMatch(/Signing in to server "s" failed/);
  });
});

describe('a sign-in', () => {
  it.each([
    ['https://evil.example/callback', 'an address of this machine'],
    ['nonsense', 'an address of this machine'],
  ])('does not come back to %s', async (url, mentions) => {
    await using server = await startRawServer();
    await using t = await startBridge({ s: { id, url: server.url } });
    await t.bridge.ready();
    await expect(t.bridge.startSignIn('s', url)).rejects.toThrow(mentions);
  });

  it('is finished once, with its own code, within ten minutes', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    const clock = fakeClock();
    await using t = await startBridge({ s: { id, url: server.url } }, { clock });
    await t.bridge.ready();
    const first = await t.bridge.startSignIn('s', redirectUrl);
    await expect(t.bridge.finishSignIn({ state: 'other', code: 'c' })).rejects.toThrow('No sign-in waits');
    await expect(t.bridge.finishSignIn({ state: first.state ?? '', code: 'wrong' })).rejects.toMatchObject({
      code: 'auth_required',
    });
    await expect(t.bridge.finishSignIn({ state: first.state ?? '', code: 'wrong' })).rejects.toThrow(
      'No sign-in waits',
    );
    const late = await t.bridge.startSignIn('s', redirectUrl);
    await clock.advance(600_000);
    await expect(t.bridge.finishSignIn({ state: late.state ?? '', code: 'c' })).rejects.toThrow('No sign-in waits');
  });

  it('to a program is refused', async () => {
    await using t = await startBridge({ p: { id, command: 'node' } });
    await expect(t.bridge.startSignIn('p', redirectUrl)).rejects.toThrow('nothing to sign in to');
  });
});
