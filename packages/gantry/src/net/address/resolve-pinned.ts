import { lookup } from 'node:dns/promises';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import { refusal } from './refusal.ts';

/** Gives every address of a host name, in the order they should be tried. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** Resolves a host name to all its addresses, at least one. */
export type ResolvePinned = (host: string) => Promise<readonly string[]>;

/** The system's resolver: hosts file, search list and DNS. IPv4 first, since many containers have no way out over IPv6. */
export const systemLookup: Lookup = async (host) => {
  const found = await lookup(host, { all: true, order: 'ipv4first' });
  return found.map((entry) => entry.address);
};

/**
 * Makes a resolver that asks once and keeps the answer for `pinMs`, so the check before a call, the call and its redirects all see
 * the same addresses. Answers are kept as they came; whoever uses one judges it.
 *
 * @throws {GantryError} (from the resolver) `address_refused` when the name has no address or nobody answers within `timeoutMs`: an
 * address that nobody has seen cannot be judged.
 */
export const createResolver = (options: {
  lookup: Lookup;
  clock: Clock;
  timeoutMs: number;
  pinMs: number;
}): ResolvePinned => {
  const { clock, timeoutMs, pinMs } = options;
  const pins = new Map<string, { readonly addresses: Promise<readonly string[]>; readonly untilMs: number }>();
  return (host) => {
    const pin = pins.get(host);
    if (pin && pin.untilMs > clock.elapsedMs()) return pin.addresses;
    const addresses = resolveWithin(host, options.lookup, clock, timeoutMs);
    pins.delete(host);
    if (pins.size >= maxPins) pins.delete(pins.keys().next().value as string);
    pins.set(host, { addresses, untilMs: clock.elapsedMs() + pinMs });
    addresses.catch(() => {
      if (pins.get(host)?.addresses === addresses) pins.delete(host);
    });
    return addresses;
  };
};

const maxPins = 512;

const resolveWithin = (host: string, ask: Lookup, clock: Clock, timeoutMs: number): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    const refuse = (problem: string, cause?: unknown): void =>
      reject(refusal('DNS_RESOLUTION_FAILED', `"${host}" cannot be resolved: ${problem}.`, { host, cause }));
    const timer = clock.startTimer(timeoutMs, () => refuse(`no answer within ${timeoutMs} ms`));
    ask(host)
      .finally(() => timer.stop())
      .then(
        (addresses) => (addresses.length > 0 ? resolve(addresses) : refuse('it has no addresses')),
        (thrown: unknown) => refuse(dnsProblem(thrown), thrown),
      );
  });

const dnsProblem = (thrown: unknown): string => {
  const code = (thrown as { code?: unknown } | null)?.code;
  if (code === 'ENOTFOUND' || code === 'ENODATA') return 'no such name';
  return typeof code === 'string' ? code : messageOf(thrown);
};
