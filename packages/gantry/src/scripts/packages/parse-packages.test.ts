import { describe, expect, it } from 'vitest';
import { parsePackages } from './parse-packages.ts';

describe('parsePackages', () => {
  it.each([
    [['numpy'], ['numpy']],
    [
      ['b', 'a', 'b'],
      ['a', 'b'],
    ],
    [[' requests == 2.32.3 '], ['requests==2.32.3']],
    [['pandas[excel, html]>=2,<3'], ['pandas[excel,html]>=2,<3']],
    [
      ['ruamel.yaml~=0.18', 'zope-interface!=5.*'],
      ['ruamel.yaml~=0.18', 'zope-interface!=5.*'],
    ],
    [undefined, []],
  ])('takes %j as %j', (packages, parsed) => {
    expect(parsePackages(packages)).toEqual(parsed);
  });

  it.each([
    'requests; rm -rf /',
    '--index-url=http://evil.example/simple',
    '-r/etc/passwd',
    '-e.',
    'requests --pre',
    'https://evil.example/x.whl',
    'x @ https://evil.example/x.whl',
    'git+https://evil.example/x',
    './local',
    '/tmp/x.whl',
    '..',
    'a/b',
    'x; python_version > "3"',
    '$(id)',
    '`id`',
    'a&b',
    'a|b',
    'a\nb',
    'a b',
    '',
    'a==',
    'a==1;b',
    '.a',
    'a-',
    'ä',
    'a'.repeat(300),
  ])('refuses %j', (name) => {
    expect(() => parsePackages(['numpy', name])).toThrow(/no package name/);
  });

  it('refuses more than twenty', () => {
    expect(() => parsePackages(Array.from({ length: 21 }, (_, index) => `p${index}`))).toThrow(/At most 20/);
  });
});
