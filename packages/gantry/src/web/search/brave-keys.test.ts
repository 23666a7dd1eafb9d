import { describe, expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createBraveKeys } from './brave-keys.ts';

const setUp = (options: { operator?: string; workspaces?: Record<string, string | Error> } = {}) => {
  const { operator, workspaces = {} } = options;
  const clock = fakeClock();
  const asked: string[] = [];
  const warnings: unknown[] = [];
  const keys = createBraveKeys({
    operatorKey: () => operator,
    workspaceKey: async (workspace) => {
      asked.push(workspace);
      const key = workspaces[workspace];
      if (key instanceof Error) throw key;
      return key;
    },
    clock,
    log: { ...silentLog, warn: (facts) => void warnings.push(facts) },
  });
  return { keys, clock, asked, warnings, workspaces };
};
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('createBraveKeys', () => {
  it('prefers the key of the workspace to the one of the operator', async () => {
    const { keys } = setUp({ operator: 'ours', workspaces: { a: 'theirs' } });
    expect(await keys.find('a')).toEqual({ value: 'theirs', owner: 'workspace' });
    expect(await keys.find('b')).toEqual({ value: 'ours', owner: 'operator' });
    expect(await keys.find(undefined)).toEqual({ value: 'ours', owner: 'operator' });
  });

  it('never gives the key of one workspace to another', async () => {
    const { keys } = setUp({ workspaces: { a: 'theirs' } });
    expect(await keys.find('a')).toMatchObject({ value: 'theirs' });
    expect(await keys.find('b')).toBeUndefined();
    expect([keys.isKnown('a'), keys.isKnown('b'), keys.isKnown()]).toEqual([true, false, false]);
  });

  it('knows of a key from the turn after the one that asked first', async () => {
    const { keys } = setUp({ workspaces: { a: 'theirs' } });
    expect(keys.isKnown('a')).toBe(false);
    await settled();
    expect(keys.isKnown('a')).toBe(true);
  });

  it('notices within a minute that a key was added or taken away', async () => {
    const { keys, clock, workspaces, asked } = setUp();
    await keys.find('a');
    workspaces['a'] = 'new';
    expect(keys.isKnown('a')).toBe(false);
    await clock.advance(60_000);
    keys.isKnown('a');
    await settled();
    expect(keys.isKnown('a')).toBe(true);
    expect(asked).toHaveLength(2);
  });

  it('searches with the key of the operator where the one of a workspace cannot be read', async () => {
    const { keys, warnings } = setUp({ operator: 'ours', workspaces: { a: new Error('no key in the keyring') } });
    expect(await keys.find('a')).toEqual({ value: 'ours', owner: 'operator' });
    expect(warnings).toEqual([{ workspace: 'a', reason: 'no key in the keyring' }]);
  });

  it('remembers a thousand workspaces, not every one that ever asked', async () => {
    const { keys, asked } = setUp();
    for (let index = 0; index <= 1_000; index += 1) await keys.find(`w${index}`);
    asked.length = 0;
    keys.isKnown('w1000');
    keys.isKnown('w0');
    await settled();
    expect(asked).toEqual(['w0']);
  });
});
