import { describe, expect, it } from 'vitest';
import { publicOnly } from './policy.ts';
import { vetAddresses, vetHostName } from './vet.ts';

const closed = { policy: publicOnly, isOwnListener: () => false };
const opened = { ...closed, policy: { production: true, allowPrivateNetwork: true } };
const development = { ...closed, policy: { production: false, allowPrivateNetwork: false } };
const strict = { ...closed, policy: { ...opened.policy, strict: true } };

const refused = (message: RegExp) =>
  expect.objectContaining({ code: 'address_refused', message: expect.stringMatching(message) });

describe('vetAddresses', () => {
  it('names host, offending address, all addresses and the option', () => {
    expect(() => vetAddresses('mixed.example', 80, ['93.184.215.14', '10.0.0.5'], closed)).toThrow(
      refused(
        /"mixed\.example" is refused because of 10\.0\.0\.5: private use .* resolves to 93\.184\.215\.14, 10\.0\.0\.5\. .*FETCH_URL_ALLOW_PRIVATE_NETWORK=true/,
      ),
    );
  });

  it('says of metadata that the option does not help', () => {
    for (const rules of [closed, opened, development])
      expect(() => vetAddresses('169.254.169.254', 80, ['169.254.169.254'], rules)).toThrow(
        refused(/never fetched, and FETCH_URL_ALLOW_PRIVATE_NETWORK does not change that/),
      );
  });

  it('does not offer the option where it would not help', () => {
    expect(() => vetAddresses('10.0.0.1', 80, ['10.0.0.1'], strict)).toThrow(refused(/^(?!.*FETCH_URL)/));
  });

  it('opens private networks with the option and outside production, metadata never', () => {
    for (const rules of [opened, development]) {
      for (const address of ['127.0.0.1', '192.168.1.10', '100.100.100.100', 'fd12::1', '::1'])
        expect(() => vetAddresses('host', 80, [address], rules)).not.toThrow();
      for (const address of [
        '169.254.169.254',
        'fd00:ec2::254',
        'fe80::1',
        '100.100.100.200',
        '::ffff:169.254.169.254',
        'not-an-address',
      ])
        expect(() => vetAddresses('host', 80, [address], rules)).toThrow(refused(/./));
    }
  });

  it('keeps own listeners closed whatever the switches', () => {
    const rules = {
      ...opened,
      isOwnListener: (address: string, port: number) => address === '127.0.0.1' && port === 8080,
    };
    expect(() => vetAddresses('localhost', 8080, ['127.0.0.1'], rules)).toThrow(refused(/listener of Gantry itself/));
    expect(() => vetAddresses('localhost', 8081, ['127.0.0.1'], rules)).not.toThrow();
  });
});

describe('vetHostName', () => {
  it('refuses names of local networks only while these are closed, and metadata names always', () => {
    expect(() => vetHostName('localhost', closed)).toThrow(refused(/FETCH_URL_ALLOW_PRIVATE_NETWORK=true/));
    expect(() => vetHostName('localhost', opened)).not.toThrow();
    expect(() => vetHostName('metadata.google.internal', opened)).toThrow(refused(/never fetched/));
    expect(() => vetHostName('example.com', closed)).not.toThrow();
  });
});
