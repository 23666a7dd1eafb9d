/**
 * The 32 bits of a dotted-decimal IPv4 address, or undefined for anything else. Octal, hexadecimal and short spellings are not
 * addresses here: URL parsing has turned them into this form before, and a resolver never gives them.
 */
export const parseIpv4 = (text: string): number | undefined => {
  let bits = 0;
  let octets = 0;
  let octet = 0;
  let digits = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at === text.length ? dot : text.charCodeAt(at);
    if (code === dot) {
      if (digits === 0 || octet > 255) return undefined;
      bits = bits * 256 + octet;
      octets += 1;
      octet = 0;
      digits = 0;
    } else {
      // A leading zero is octal to some resolvers and decimal to others.
      if (code < 48 || code > 57 || digits === 3 || (digits > 0 && octet === 0)) return undefined;
      octet = octet * 10 + code - 48;
      digits += 1;
    }
    if (octets > 4) return undefined;
  }
  return octets === 4 ? bits : undefined;
};

/**
 * The eight 16-bit groups of an IPv6 address in any text form of RFC 4291 (compressed, with a dotted IPv4 tail), or undefined.
 * Brackets and a zone id (RFC 4007) are accepted and left out.
 */
export const parseIpv6 = (text: string): Uint16Array | undefined => {
  let at = text.startsWith('[') && text.endsWith(']') ? 1 : 0;
  const zone = text.indexOf('%');
  const end = zone === -1 ? text.length - at : zone;
  const groups = new Uint16Array(8);
  let count = 0;
  let gap = -1;
  if (text.startsWith('::', at)) {
    gap = 0;
    at += 2;
  }
  while (at < end) {
    const start = at;
    let group = 0;
    for (let digit = hexDigit(text, at); at < end && digit >= 0; digit = hexDigit(text, at)) {
      group = group * 16 + digit;
      at += 1;
    }
    if (at < end && text.charCodeAt(at) === dot) {
      const ipv4 = parseIpv4(text.slice(start, end));
      if (ipv4 === undefined || count > 6) return undefined;
      groups[count] = ipv4 >>> 16;
      groups[count + 1] = ipv4 & 0xffff;
      count += 2;
      break;
    }
    if (at === start || at - start > 4 || count === 8) return undefined;
    groups[count] = group;
    count += 1;
    if (at === end) break;
    if (text.charCodeAt(at) !== colon) return undefined;
    at += 1;
    if (at === end) return undefined;
    if (text.charCodeAt(at) === colon) {
      if (gap !== -1) return undefined;
      gap = count;
      at += 1;
    }
  }
  if (gap === -1) return count === 8 ? groups : undefined;
  if (count === 8) return undefined;
  const tail = 8 - (count - gap);
  groups.copyWithin(tail, gap, count);
  groups.fill(0, gap, tail);
  return groups;
};

const dot = 46;
const colon = 58;

const hexDigit = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  if (code >= 48 && code <= 57) return code - 48;
  // Letters of either case differ in one bit.
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
};
