import { buildConnector } from 'undici';
import { messageOf } from '../../../packages/gantry/src/kernel/errors.ts';
import type { Dial } from '../../../packages/gantry/src/net/guarded-connector.ts';
import { createGuardedClient } from '../../../packages/gantry/src/net/guarded-client.ts';
import { listenOnLoopback } from '../../fixtures/listen-on-loopback.ts';
import { differences, unless } from '../lib/compare.ts';
import { asText, rowsOf, textsOf } from '../lib/read-cases.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

const publicAddress = '93.184.215.14';

/** Addresses in every spelling → refused without a connection. */
export const ssrfUrl: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['urls']);
  refuseUnread(expect, 'the expectation', ['all', 'socketsOpened']);
  if (expect['all'] !== 'blocked') throw new NotCovered(`the outcome ${asText(expect['all'])} cannot be read`);
  let dials = 0;
  await using client = createGuardedClient({
    lookup: async () => [publicAddress],
    dial: (_wanted, callback) => {
      dials += 1;
      callback(new Error('nothing is dialled here'), null);
    },
  });
  const problems: string[] = [];
  for (const url of textsOf(input['urls'])) {
    const outcome = await client.fetch(url).then(() => 'fetched', toOutcome);
    problems.push(...differences(url, outcome, 'blocked'));
  }
  return [...problems, ...differences('connections', dials, expect['socketsOpened'])];
};

/** Redirect chains → how they end. */
export const ssrfRedirect: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  refuseUnread(input, 'the input', ['rows']);
  refuseUnread(expect, 'the expectation', ['outcomes']);
  const outcomes = textsOf(expect['outcomes']);
  const rows = rowsOf(fieldCase).map((row) => textsOf(row));
  await using server = await listenOnLoopback((request, response) => {
    const found = rows.find(([url = '']) => URL.parse(url)?.pathname === request.url);
    const [, status, location] = /^(30\d)(?: (\S+)|.*itself)/.exec(found?.[1] ?? '') ?? [];
    if (status === undefined) return void response.end(`<p>${found?.[1] ?? 'here'}</p>`);
    response.writeHead(Number(status), { location: location === 'to' || !location ? request.url : location }).end();
  });
  const port = new URL(server.url).port;
  const dialLoopback = buildConnector({ allowH2: false });
  const dialled: string[] = [];
  const dial: Dial = (wanted, callback) => {
    dialled.push(wanted.hostname);
    dialLoopback({ ...wanted, protocol: 'http:', hostname: '127.0.0.1', port }, callback);
  };
  await using client = createGuardedClient({ lookup: async () => [publicAddress], dial });
  const problems: string[] = [];
  for (const [index, [url = '']] of rows.entries()) {
    const came = await client.fetch(url).then(async (response) => {
      await response.text();
      return response.redirected ? 'followed' : 'not followed';
    }, toOutcome);
    const wanted = outcomes[index] ?? '';
    problems.push(...unless(wanted.startsWith(came), `${url}: expected ${wanted}`, came));
  }
  return [...problems, ...differences('dialled', [...new Set(dialled)], [publicAddress])];
};

const toOutcome = (error: unknown): string => {
  const message = messageOf(error);
  if (/redirects more than/.test(message)) return 'error: too many redirects';
  return (error as { code?: unknown }).code === 'address_refused' ? 'blocked' : `failed: ${message}`;
};
