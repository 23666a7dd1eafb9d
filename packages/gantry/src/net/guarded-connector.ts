import type { Socket } from 'node:net';
import { callbackify } from 'node:util';
import type { buildConnector } from 'undici';
import type { Clock } from '../kernel/clock.ts';
import { GantryError, messageOf } from '../kernel/errors.ts';
import { isAddress } from './address/classify-address.ts';
import type { ResolvePinned } from './address/resolve-pinned.ts';
import type { VetRules } from './address/vet.ts';
import { vetAddresses, vetHostName } from './address/vet.ts';

/** Opens a connection to one address (`hostname`), with TLS to `servername` where the protocol is https. */
export type Dial = buildConnector.connector;

/**
 * The connector of the guarded client's pool. Every connection goes through it, to literal addresses too: it judges the host, then
 * dials only addresses it has judged, one after the other, under the host's own TLS name.
 */
export const guardedConnector =
  (options: {
    rules: VetRules;
    resolve: ResolvePinned;
    dial: Dial;
    clock: Clock;
    connectMs: number;
  }): buildConnector.connector =>
  (wanted, callback) =>
    callbackify(connectVetted)(wanted, options, (error, socket) =>
      error ? callback(error, null) : callback(null, socket),
    );

/** More addresses of one host are not tried: a list that long is no help when three do not answer. */
const maxDials = 3;

const connectVetted = async (
  wanted: buildConnector.Options,
  { rules, resolve, dial, clock, connectMs }: Parameters<typeof guardedConnector>[0],
): Promise<Socket> => {
  const host = wanted.hostname;
  const port = Number(wanted.port) || (wanted.protocol === 'https:' ? 443 : 80);
  const literal = isAddress(host);
  if (!literal) vetHostName(host, rules);
  const addresses = literal ? [host] : await resolve(host);
  vetAddresses(host, port, addresses, rules);
  const servername = wanted.protocol === 'https:' && !literal ? host : undefined;
  const tried = addresses.slice(0, maxDials);
  const endsAtMs = clock.elapsedMs() + connectMs;
  let failure: unknown;
  for (const [index, address] of tried.entries()) {
    const leftMs = endsAtMs - clock.elapsedMs();
    if (leftMs <= 0) break;
    const attempt = { ...wanted, hostname: address, ...(servername === undefined ? {} : { servername }) };
    // An address that swallows packets leaves its successors an equal share of what is left.
    const timeoutMs = leftMs / (tried.length - index);
    try {
      return await dialWithin(dial, attempt, clock, timeoutMs);
    } catch (thrown) {
      failure = thrown;
    }
  }
  throw unreachable(host, port, tried, failure);
};

const dialWithin = (dial: Dial, attempt: buildConnector.Options, clock: Clock, timeoutMs: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    let late = false;
    const timer = clock.startTimer(timeoutMs, () => {
      late = true;
      reject(Object.assign(new Error(`no connection within ${Math.round(timeoutMs)} ms`), { code: 'ETIMEDOUT' }));
    });
    dial(attempt, (error, socket) => {
      timer.stop();
      if (error) reject(error);
      else if (late) socket.destroy();
      else resolve(socket);
    });
  });

const unreachable = (host: string, port: number, tried: readonly string[], failure: unknown): GantryError => {
  const found = (failure as { code?: unknown } | null)?.code;
  const code = typeof found === 'string' ? found : '';
  const problem = messageOf(failure).replace(/\.$/, '');
  const message = `"${host}" port ${port} cannot be reached (${tried.join(', ')}): ${problem}.`;
  const timedOut = code === 'ETIMEDOUT' || code === 'UND_ERR_CONNECT_TIMEOUT';
  return new GantryError(timedOut ? 'timeout' : 'execution_failed', message, {
    details: { stage: 'connect', host, port, tried, ...(code === '' ? {} : { cause: code }) },
    // A refused connection sent nothing; a certificate that does not fit will not fit the next time either.
    retry: code === 'ECONNREFUSED' ? 'same' : /CERT|TLS|SIGN/.test(code) ? 'never' : 'later',
    cause: failure,
  });
};
