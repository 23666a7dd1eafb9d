import type { AddressClass } from './address-classes.ts';

/**
 * What a host name means before anybody is asked for its addresses: a class for names that never belong to the public internet,
 * undefined for the others.
 *
 * @param host a host name as a parsed URL gives it (lower case, A-labels), without trailing dots.
 */
export const classifyHostName = (host: string): AddressClass | undefined => {
  if (metadataNames.has(host)) return metadataName;
  for (const [suffix, type] of localSuffixes) {
    if (host === suffix || (host.endsWith(suffix) && host[host.length - suffix.length - 1] === '.')) return type;
  }
  return host.includes('.') ? undefined : singleLabel;
};

/** The host name without the trailing dots that make it absolute: `localhost.` names what `localhost` names. */
export const withoutTrailingDots = (host: string): string => {
  let end = host.length;
  while (end > 0 && host[end - 1] === '.') end -= 1;
  return host.slice(0, end);
};

const local = (reason: string): AddressClass => ({ public: false, metadata: false, reason });

const singleLabel = local('a name without a domain, which only a local network knows');
const metadataName: AddressClass = { public: false, metadata: true, reason: 'the name of a cloud metadata service' };

const metadataNames: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.goog',
  'metadata.google.internal',
  'metadata.azure.internal',
  'instance-data',
  'instance-data.ec2.internal',
]);

const localSuffixes: readonly (readonly [string, AddressClass])[] = [
  ['localhost', local('loopback by name (RFC 6761)')],
  ['localdomain', local('a name of the local host')],
  ['local', local('multicast DNS (RFC 6762)')],
  ['internal', local('reserved for private networks (ICANN)')],
  ['home.arpa', local('reserved for home networks (RFC 8375)')],
  ['ipv4only.arpa', local('reserved for finding NAT64 prefixes (RFC 8880)')],
  ['svc', local('a service name inside a cluster')],
  ...['intranet', 'private', 'corp', 'home', 'lan'].map(
    (suffix) => [suffix, local('a private top-level domain (RFC 6762, appendix G)')] as const,
  ),
];
