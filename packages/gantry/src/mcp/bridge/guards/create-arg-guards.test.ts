import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import type { ArgGuardEntry } from '../config/server-entry.ts';
import type { ArgGuard } from './arg-guard.ts';
import { createArgGuards } from './create-arg-guards.ts';

const says =
  (reason: string | undefined): (() => ArgGuard) =>
  () =>
  async () =>
    reason;
const guards = createArgGuards({
  no: says('no'),
  never: says('never'),
  yes: says(undefined),
  broken: () => () => Promise.reject(new Error('the list is away')),
});
const rejection = (argGuards: readonly ArgGuardEntry[], args: JsonObject = {}): Promise<string | undefined> =>
  guards.rejectionOf({ argGuards }, { server: 's', tool: 'Save', args });

describe('the guards of an entry', () => {
  it.each<[string, readonly ArgGuardEntry[], string | undefined]>([
    ['none', [], undefined],
    ['all that let it pass', [{ handler: 'yes' }, { handler: 'yes', tools: [] }], undefined],
    ['the first that does not', [{ handler: 'yes' }, { handler: 'no' }, { handler: 'never' }], 'no'],
    ['one for this tool, in any case', [{ handler: 'no', tools: ['other', 'sAVE'] }], 'no'],
    ['one for other tools', [{ handler: 'no', tools: ['other'] }], undefined],
  ])('are run in order: %s', async (_what, entries, reason) => {
    expect(await rejection(entries)).toBe(reason);
  });

  it('reject the call when they cannot be had or cannot be run', async () => {
    expect(await rejection([{ handler: 'gone' }])).toContain('"gone", which does not exist');
    expect(await rejection([{ handler: 'broken' }])).toContain('the list is away');
  });

  it.each<[ArgGuardEntry, string]>([
    [{ handler: 'pathPrefix' }, '"path-prefix", "url-host", "json-schema"'],
    [{ handler: 'toString' }, 'does not exist'],
    [{ handler: 'path-prefix', options: { args: ['a'], allowedPrefixes: [] } }, '"allowedPrefixes"'],
  ])('are found wrong before a connection is made: %j', (entry, why) => {
    expect(guards.problemOf({ argGuards: [{ handler: 'yes' }, entry] })).toContain(why);
  });

  it('are not asked for by an entry without any', () => {
    expect(guards.problemOf({})).toBeUndefined();
  });
});

describe('the guard json-schema', () => {
  const rule = (schema: unknown): readonly ArgGuardEntry[] => [{ handler: 'json-schema', options: { schema } }];
  const folders = rule({
    type: 'object',
    properties: { folder: { enum: ['Inbox', 'Archive'] }, count: { type: 'integer', maximum: 50 } },
    required: ['folder'],
  });

  it('lets arguments pass that meet the schema', async () => {
    expect(await rejection(folders, { folder: 'Inbox', other: 1 })).toBeUndefined();
  });

  it.each<[JsonObject, string[]]>([
    [{ folder: 'Trash' }, ['"folder"', 'Inbox', 'Archive', 'Trash']],
    [{ folder: 'Inbox', count: 51 }, ['"count"', '50', '51']],
    [{}, ['"folder"', 'Inbox']],
  ])('tells of %j what is wrong and what is wanted', async (args, mentions) => {
    const reason = await rejection(folders, args);
    for (const mention of mentions) expect(reason).toContain(mention);
  });

  it.each([undefined, true, {}, { type: 'thing' }, { $ref: 'https://elsewhere.test/schema' }])(
    'is refused with the schema %j',
    (schema) => {
      expect(guards.problemOf({ argGuards: rule(schema) })).toContain('"json-schema" are wrong');
    },
  );
});
