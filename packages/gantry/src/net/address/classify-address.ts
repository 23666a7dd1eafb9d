import type { AddressClass, CarriedIpv4, Ipv6Block } from './address-classes.ts';
import { ipv4Blocks, ipv6Blocks, notAnAddress, outsideGlobalUnicast, publicAddress } from './address-classes.ts';
import { parseIpv4, parseIpv6 } from './address.ts';

/**
 * Says whether an address belongs to the public internet, and what it is if not. IPv6 forms that carry an IPv4 address are judged by
 * what they carry. Takes canonical text, as a resolver or a parsed URL gives it (brackets and zone ids are fine); any other text,
 * host names too, is not public.
 */
export const classifyAddress = (text: string): AddressClass => {
  const ipv4 = parseIpv4(text);
  if (ipv4 !== undefined) return classifyIpv4(ipv4);
  const ipv6 = parseIpv6(text);
  return ipv6 === undefined ? notAnAddress : classifyIpv6(ipv6);
};

/** True for text that is an IPv4 or IPv6 address, in brackets or not. */
export const isAddress = (text: string): boolean => parseIpv4(text) !== undefined || parseIpv6(text) !== undefined;

const classifyIpv4 = (bits: number): AddressClass => {
  for (const block of ipv4Blocks) {
    const shift = 32 - block.length;
    if (bits >>> shift === block.base >>> shift) return block.class;
  }
  return publicAddress;
};

const classifyIpv6 = (groups: Uint16Array): AddressClass => {
  for (const block of ipv6Blocks) {
    if (isInside(groups, block))
      return block.carries ? classifyCarrier(groups, block.class, block.carries) : block.class;
  }
  return (groups[0] as number) >>> 13 === 1 ? classifyIsatap(groups) : outsideGlobalUnicast;
};

const isInside = (groups: Uint16Array, { base, length }: Ipv6Block): boolean => {
  for (let index = 0, left = length; left > 0; index += 1, left -= 16) {
    const shift = left >= 16 ? 0 : 16 - left;
    if ((groups[index] as number) >>> shift !== (base[index] as number) >>> shift) return false;
  }
  return true;
};

const classifyCarrier = (groups: Uint16Array, carrier: AddressClass, carries: CarriedIpv4): AddressClass => {
  let carried = publicAddress;
  for (const [first, second, third, fourth] of carries.bytes) {
    const bits =
      (byteAt(groups, first) << 24) |
      (byteAt(groups, second) << 16) |
      (byteAt(groups, third) << 8) |
      byteAt(groups, fourth);
    carried = classifyIpv4((carries.inverted ? ~bits : bits) >>> 0);
    if (carried.metadata) break;
  }
  if (carries.transparent ? carried.public : !carried.metadata) return carries.transparent ? carried : carrier;
  return { ...carried, reason: `${carrier.reason} for ${carried.reason}` };
};

/** ISATAP (RFC 5214) writes an IPv4 address into the interface identifier below any prefix. */
const classifyIsatap = (groups: Uint16Array): AddressClass => {
  if (((groups[4] as number) & 0xfdff) !== 0 || groups[5] !== 0x5efe) return publicAddress;
  const carried = classifyIpv4((((groups[6] as number) << 16) | (groups[7] as number)) >>> 0);
  return carried.public ? carried : { ...carried, reason: `ISATAP (RFC 5214) for ${carried.reason}` };
};

const byteAt = (groups: Uint16Array, at: number): number => {
  const group = groups[at >> 1] as number;
  return at % 2 === 0 ? group >>> 8 : group & 0xff;
};
