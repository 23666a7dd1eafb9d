import { describe, expect, it } from 'vitest';
import { createScriptUsers } from './script-users.ts';
import { rangeOf } from './user-range.ts';

describe.skipIf(process.platform !== 'linux')('createScriptUsers', () => {
  const first = 1_999_000_000 + process.pid;
  const take = (count: number) => createScriptUsers(true, () => ({ first, count })).take();

  it('never gives the same user twice, whoever asks, until it is given back', async () => {
    const taken = await Promise.all([1, 2, 3].map(() => take(3)));
    expect(new Set(taken.map(({ user }) => user?.uid)).size).toBe(3);
    await expect(take(3)).rejects.toMatchObject({ code: 'limit_reached' });
    taken[1]?.giveBack();
    const again = await take(3);
    expect(again.user).toEqual(taken[1]?.user);
    for (const each of [taken[0], taken[2], again]) each?.giveBack();
  });

  it('gives none where the host is not root', async () => {
    const users = createScriptUsers(false);
    expect(users.areUsed).toBe(false);
    expect((await users.take()).user).toBeUndefined();
  });
});

describe('rangeOf', () => {
  const everything = '         0          0 4294967295\n';
  const facts = { userMap: everything, groupMap: everything, networkNamespace: 'net:[4026531840]' };

  it('differs from one network namespace to the next, and stays below 2^31', () => {
    const ranges = ['net:[4026531840]', 'net:[4026532177]', 'net:[4026531833]'].map((networkNamespace) =>
      rangeOf({ ...facts, networkNamespace }),
    );
    const sorted = ranges.toSorted((a, b) => a.first - b.first);
    for (const [index, { first, count }] of sorted.entries())
      expect(first + count).toBeLessThanOrEqual(sorted[index + 1]?.first ?? 2 ** 31);
    expect(sorted[0]?.first).toBeGreaterThanOrEqual(1_000_000_000);
  });

  it('keeps to the ids of a container that has few', () => {
    const few = '0 100000 65536\n';
    expect(rangeOf({ ...facts, userMap: few, groupMap: few })).toEqual({ first: 30_000, count: 30_000 });
  });

  it('says what is missing where a container has none', () => {
    expect(() => rangeOf({ ...facts, userMap: '0 1000 1\n' })).toThrow(/map the user and group ids 30000 to 59999/);
  });
});
