import { isIPv4, isIPv6 } from 'node:net';
import { array, assert, constantFrom, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIpv4, parseIpv6 } from './address.ts';

const groupsOf = (text: string): string | undefined => {
  const groups = parseIpv6(text);
  return groups && [...groups].map((group) => group.toString(16)).join(':');
};

describe('parseIpv4', () => {
  it.each([
    ['0.0.0.0', 0],
    ['1.2.3.4', 0x01020304],
    ['255.255.255.255', 0xffffffff],
  ])('reads %s', (text, bits) => expect(parseIpv4(text)).toBe(bits));

  it.each([
    '',
    '1',
    '127.1',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.',
    '.1.2.3',
    '1..2.3',
    '256.1.1.1',
    '01.2.3.4',
    '0x7f.0.0.1',
    '1.2.3.4 ',
    '1.2.3.1234',
  ])('gives nothing for "%s"', (text) => expect(parseIpv4(text)).toBeUndefined());
});

describe('parseIpv6', () => {
  it.each([
    ['::', '0:0:0:0:0:0:0:0'],
    ['::1', '0:0:0:0:0:0:0:1'],
    ['1::', '1:0:0:0:0:0:0:0'],
    ['1:2::7:8', '1:2:0:0:0:0:7:8'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::ffff:127.0.0.1', '0:0:0:0:0:ffff:7f00:1'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
    ['FE80::ABCD%eth0', 'fe80:0:0:0:0:0:0:abcd'],
    ['[2001:DB8::1]', '2001:db8:0:0:0:0:0:1'],
  ])('reads %s', (text, groups) => expect(groupsOf(text)).toBe(groups));

  it.each([
    '',
    ':',
    ':::',
    '1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '1:2:3:4:5:6:7::8',
    '12345::',
    'g::',
    '::1:',
    ':1::',
    '1:2:3:4:5:6:7:1.2.3.4',
    '::1.2.3',
    '::1.2.3.4:5',
    '[::1',
  ])('gives nothing for "%s"', (text) => expect(parseIpv6(text)).toBeUndefined());

  it('agrees with the platform about what is an address', () => {
    const piece = constantFrom(':', '::', '.', '0', '1', 'f', 'ff', '10', '255', '256', '12345', 'ffff');
    assert(
      property(array(piece, { maxLength: 16 }), (pieces) => {
        const text = pieces.join('');
        expect(parseIpv4(text) !== undefined, text).toBe(isIPv4(text));
        expect(parseIpv6(text) !== undefined, text).toBe(isIPv6(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads what URL parsing writes', () => {
    const groups = array(integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    assert(
      property(groups, (given) => {
        const text = given.map((group) => group.toString(16)).join(':');
        expect(groupsOf(new URL(`http://[${text}]/`).hostname)).toBe(text);
      }),
    );
  });
});
