import { networkInterfaces } from 'node:os';
import { parseIpv4, parseIpv6 } from './address.ts';

/** True when this process listens there. Asked for every address before it is dialled. */
export type IsOwnListener = (address: string, port: number) => boolean;

/** The ports this process listens on. */
export interface OwnListeners {
  /** Notes a port; disposing the result forgets it. */
  add(port: number): Disposable;
  readonly isOwnListener: IsOwnListener;
}

/**
 * Makes an empty list of own listeners. A port counts as ours on every address of this machine, whichever it was bound to: one
 * rule covers wildcard binds, IPv4-mapped forms and `0.0.0.0`.
 *
 * @param options `localAddresses` gives the addresses of the machine's network interfaces.
 */
export const createOwnListeners = (
  options: { localAddresses?: (() => readonly string[]) | undefined } = {},
): OwnListeners => {
  const localAddresses = options.localAddresses ?? interfaceAddresses;
  const listeners = new Set<{ readonly port: number }>();
  return {
    add: (port) => {
      const listener = { port };
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    isOwnListener: (address, port) => {
      if (!listeners.values().some((listener) => listener.port === port)) return false;
      const key = addressKey(address);
      return reachesLocalHost(key) || localAddresses().some((local) => addressKey(local) === key);
    },
  };
};

/** One key per address, whatever its spelling: the bits of an IPv4 address (mapped ones too), else the groups of an IPv6 one. */
const addressKey = (text: string): number | string | undefined => {
  const groups = parseIpv6(text);
  if (groups === undefined) return parseIpv4(text);
  const key = groups.join(':');
  return key.startsWith('0:0:0:0:0:65535:') ? (groups[6] as number) * 65_536 + (groups[7] as number) : key;
};

const reachesLocalHost = (key: number | string | undefined): boolean => {
  // 0.0.0.0 and :: connect to the local host on Linux, as 127/8 and ::1 do everywhere.
  if (typeof key === 'number') return key >>> 24 === 127 || key >>> 24 === 0;
  return key === '0:0:0:0:0:0:0:0' || key === '0:0:0:0:0:0:0:1';
};

const interfaceAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map((entry) => entry.address));
