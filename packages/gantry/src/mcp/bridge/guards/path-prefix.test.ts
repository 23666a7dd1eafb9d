import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { pathPrefix } from './path-prefix.ts';

const options = { args: ['save_directory'], allowedPrefixes: ['/shared'] };
const check = (args: JsonObject, more: object = {}): Promise<string | undefined> =>
  pathPrefix({ ...options, ...more })({ server: 's', tool: 'download_file', args });

describe('a path', () => {
  it.each(['/shared', '/shared/', '//shared//a', '/./shared/./a', '/shared/a/../b', '\\shared\\a', ' /shared/a '])(
    '%j passes',
    async (path) => {
      expect(await check({ save_directory: path })).toBeUndefined();
    },
  );

  it.each([
    ['/tmp', 'lies outside'],
    ['relative/x', 'is relative'],
    ['shared/x', 'is relative'],
    ['/shared/../tmp', 'lies outside'],
    ['/shared/../../tmp', 'climbs above the root'],
    ['/shared-evil', 'lies outside'],
    ['/Shared/a', 'lies outside'],
    ['C:\\shared', 'is relative'],
    ['  ', 'is not a path'],
    [null, 'is not a path'],
    [7, 'is not a path'],
    [['/shared'], 'is not a path'],
  ])('%j is rejected and told why', async (path, why) => {
    const reason = await check({ save_directory: path });
    expect(reason).toContain('Argument "save_directory" is');
    expect(reason).toContain(why);
    expect(reason).toContain('"/shared"');
    if (typeof path === 'string') expect(reason).toContain(path.trim());
  });

  it('is checked under every spelling of the name', async () => {
    expect(await check({ save_directory: '/shared', Save_Directory: '/tmp' })).toContain('"Save_Directory" is "/tmp"');
  });

  it('may be anywhere below "/" when that is allowed', async () => {
    expect(await check({ save_directory: '/etc' }, { allowedPrefixes: ['/'] })).toBeUndefined();
  });
});

it('lets a missing argument pass unless it is required', async () => {
  expect(await check({})).toBeUndefined();
  expect(await check({}, { requireArgs: true })).toMatch(/"save_directory" is missing: .*"\/shared"/);
});

it.each([
  [undefined, '"options" must be an object'],
  [{ allowedPrefixes: ['/a'] }, '"args"'],
  [{ args: [], allowedPrefixes: ['/a'] }, '"args"'],
  [{ args: ['x'], allowedPrefixes: [] }, '"allowedPrefixes"'],
  [{ args: ['x'], allowedPrefixes: ['a'] }, 'is relative'],
  [{ args: ['x'], allowedPrefixes: ['/a/../..'] }, 'climbs above the root'],
  [{ args: ['x'], allowedPrefixes: ['/a'], requireArgs: 'yes' }, '"requireArgs" must be true or false'],
  [{ args: ['x'], allowedPrefixes: ['/a'], requireArg: true }, 'no option "requireArg"'],
])('refuses the options %j', (given, why) => {
  expect(() => pathPrefix(given)).toThrow(why);
});
