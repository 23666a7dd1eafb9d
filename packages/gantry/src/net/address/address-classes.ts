import { parseIpv4, parseIpv6 } from './address.ts';

/** What an address is, as far as fetching it goes. */
export interface AddressClass {
  /** True for an address of the public internet. */
  readonly public: boolean;
  /** True for the services that hand a machine its credentials: never fetched, whatever the switches. */
  readonly metadata: boolean;
  /** What the address is, with the source of the rule, for a message. */
  readonly reason: string;
}

/** A block of IPv4 addresses. */
export interface Ipv4Block {
  readonly base: number;
  readonly length: number;
  readonly class: AddressClass;
}

/** A block of IPv6 addresses. */
export interface Ipv6Block {
  readonly base: Uint16Array;
  readonly length: number;
  readonly class: AddressClass;
  /** Set where the addresses carry IPv4 ones. */
  readonly carries?: CarriedIpv4 | undefined;
}

/** Where a form of IPv6 address carries IPv4 addresses. */
export interface CarriedIpv4 {
  /** For each carried address the positions of its four bytes. */
  readonly bytes: readonly (readonly [number, number, number, number])[];
  /** Teredo writes the address inverted. */
  readonly inverted?: true;
  /** Set where the carried address decides alone; elsewhere the form is refused whatever it carries. */
  readonly transparent?: true;
}

const special = (reason: string): AddressClass => ({ public: false, metadata: false, reason });
const metadata = (reason: string): AddressClass => ({ public: false, metadata: true, reason });

/** An ordinary address. */
export const publicAddress: AddressClass = { public: true, metadata: false, reason: 'global unicast' };
/** Text that is no address at all, which is never dialled. */
export const notAnAddress: AddressClass = special('not an IP address');
/** IPv6 space that nobody has been given (RFC 4291: only 2000::/3 is global unicast). */
export const outsideGlobalUnicast: AddressClass = special('outside the global unicast space 2000::/3 (RFC 4291)');

const split = (prefix: string): [string, number] => {
  const [base = '', length = ''] = prefix.split('/');
  return [base, Number(length)];
};
const ipv4 = (prefix: string, type: AddressClass): Ipv4Block => {
  const [base, length] = split(prefix);
  return { base: parseIpv4(base) as number, length, class: type };
};
const ipv6 = (prefix: string, type: AddressClass, carries?: CarriedIpv4): Ipv6Block => {
  const [base, length] = split(prefix);
  return { base: parseIpv6(base) as Uint16Array, length, class: type, carries };
};

/** IPv4 blocks that are not the public internet (IANA special-purpose registry); the first that fits decides. */
export const ipv4Blocks: readonly Ipv4Block[] = [
  ipv4('169.254.0.0/16', metadata('link-local, where clouds serve metadata (RFC 3927)')),
  ipv4('100.100.100.200/32', metadata('the metadata service of Alibaba Cloud')),
  ipv4('168.63.129.16/32', metadata('the platform service of Azure')),
  ipv4('192.0.0.192/32', metadata('the metadata service of Oracle Cloud')),
  ipv4('127.0.0.0/8', special('loopback (RFC 1122)')),
  ipv4('10.0.0.0/8', special('private use (RFC 1918)')),
  ipv4('172.16.0.0/12', special('private use (RFC 1918)')),
  ipv4('192.168.0.0/16', special('private use (RFC 1918)')),
  ipv4('0.0.0.0/8', special('"this network", which reaches the local host (RFC 1122)')),
  ipv4('100.64.0.0/10', special('shared address space of carriers (RFC 6598)')),
  ipv4('192.0.0.0/24', special('IETF protocol assignments (RFC 6890)')),
  ipv4('192.0.2.0/24', special('documentation (RFC 5737)')),
  ipv4('198.51.100.0/24', special('documentation (RFC 5737)')),
  ipv4('203.0.113.0/24', special('documentation (RFC 5737)')),
  ipv4('192.88.99.0/24', special('6to4 relay anycast (RFC 7526)')),
  ipv4('198.18.0.0/15', special('benchmarking (RFC 2544)')),
  ipv4('224.0.0.0/4', special('multicast (RFC 5771)')),
  ipv4('255.255.255.255/32', special('limited broadcast (RFC 919)')),
  ipv4('240.0.0.0/4', special('reserved (RFC 1112)')),
];

const atEnd = [12, 13, 14, 15] as const;

/** IPv6 blocks with a meaning of their own; the first that fits decides, and what is outside 2000::/3 is never public. */
export const ipv6Blocks: readonly Ipv6Block[] = [
  ipv6('fe80::/10', metadata('link-local (RFC 4291)')),
  ipv6('fd00:ec2::/32', metadata('the metadata services of AWS')),
  ipv6('fd20:ce::254/128', metadata('the metadata service of Google Cloud')),
  ipv6('fd00:42::42/128', metadata('the metadata service of Scaleway')),
  ipv6('::/128', special('unspecified, which reaches the local host (RFC 4291)')),
  ipv6('::1/128', special('loopback (RFC 4291)')),
  ipv6('::ffff:0:0/96', special('IPv4-mapped (RFC 4291)'), { bytes: [atEnd], transparent: true }),
  ipv6('64:ff9b::/96', special('NAT64 (RFC 6052)'), { bytes: [atEnd], transparent: true }),
  // A network chooses the length of its own prefix, and with it where the address stands (RFC 6052, section 2.2).
  ipv6('64:ff9b:1::/48', special('local NAT64 (RFC 8215)'), {
    bytes: [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], atEnd],
  }),
  ipv6('::ffff:0:0:0/96', special('IPv4-translated (RFC 7915)'), { bytes: [atEnd] }),
  ipv6('::/96', special('IPv4-compatible, deprecated (RFC 4291)'), { bytes: [atEnd] }),
  ipv6('2002::/16', special('6to4, deprecated (RFC 7526)'), { bytes: [[2, 3, 4, 5]] }),
  ipv6('2001::/32', special('Teredo (RFC 4380)'), { bytes: [atEnd], inverted: true }),
  ipv6('fc00::/7', special('unique local (RFC 4193)')),
  ipv6('fec0::/10', special('site-local, deprecated (RFC 3879)')),
  ipv6('ff00::/8', special('multicast (RFC 4291)')),
  ipv6('100::/64', special('discard only (RFC 6666)')),
  ipv6('100:0:0:1::/64', special('dummy prefix (RFC 9780)')),
  ipv6('5f00::/16', special('segment routing identifiers (RFC 9602)')),
  ipv6('2001::/23', special('IETF protocol assignments (RFC 2928)')),
  ipv6('2001:db8::/32', special('documentation (RFC 3849)')),
  ipv6('3fff::/20', special('documentation (RFC 9637)')),
];
