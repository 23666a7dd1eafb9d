import { startOauthServer } from '../../fixtures/oauth-server.ts';
import { startProtectedServer } from '../../fixtures/protected-server.ts';
import { differences, unless } from '../lib/compare.ts';
import { callAsModel } from '../lib/local-gantry.ts';
import { asText, listOf } from '../lib/read-cases.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

const id = 'aaaaaaaaaaaa';

/** Parallel calls with an expired token and a refresh token of single use → one refresh, and the newer pair is kept. */
export const expiredToken: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['parallelCalls', 'server', 'tokenEndpoint']);
  refuseUnread(expect, 'the expectation', ['refreshRequests', 'callOutcomes', 'storedCredentials']);
  if (!asText(input['tokenEndpoint']).startsWith('refresh token is single use'))
    throw new NotCovered('the token endpoint cannot be read');
  await using oauth = await startOauthServer();
  await using server = await startProtectedServer(oauth);
  await using served = await startServed({ field: { id, url: server.url } });
  await served.servers.ready();
  const started = await served.servers.startSignIn('field', 'http://127.0.0.1:9/callback');
  const back = await oauth.agree(started.authorizationUrl ?? '');
  await served.servers.finishSignIn({ state: started.state ?? '', code: back.searchParams.get('code') ?? '' });
  oauth.expire();
  const calls = await Promise.all(
    Array.from({ length: Number(input['parallelCalls']) }, () =>
      callAsModel(served.gantry, { name: 'field__echo', arguments: {} }, []),
    ),
  );
  const refreshes = oauth.grants.filter((grant) => grant === 'refresh_token').length;
  const outcomes = calls.map(({ isError }) => (isError ? 'error' : 'success'));
  const stored = (await served.gantry.store.secrets.get(`mcp-oauth/${id}`)) ?? '{}';
  const { tokens } = JSON.parse(stored) as { tokens?: { access_token: string } };
  return [
    ...differences('refresh requests', refreshes, expect['refreshRequests']),
    ...differences('outcomes', outcomes, listOf(expect['callOutcomes'])),
    ...unless(
      oauth.accepts({ headers: { authorization: `Bearer ${tokens?.access_token}` } }),
      'expected the rotated pair to be stored',
      tokens ? 'another' : 'none',
    ),
  ];
};
