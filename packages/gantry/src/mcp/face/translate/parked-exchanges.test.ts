import { describe, expect, it } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { ParkedExchange } from './parked-exchanges.ts';
import { createParkedExchanges } from './parked-exchanges.ts';

let count = 0;
const make = (owner = 'alice') => {
  const ends: string[] = [];
  const entry = {
    owner: `${owner} ${(count += 1)}`,
    client: owner,
    asked: {},
    exchange: { abandon: () => ends.push('abandoned') },
    leased: { giveBack: (how: string) => ends.push(how) },
  } as unknown as ParkedExchange;
  return { entry, ends };
};

describe('requests that wait for their clients', () => {
  it('are taken once, by whom they belong to', async () => {
    const parked = createParkedExchanges(fakeClock(), undefined);
    const { entry, ends } = make();
    const name = await parked.park(entry);
    expect(parked.take(name, 'bob')).toBeUndefined();
    expect(parked.take(name, entry.owner)).toMatchObject({ client: 'alice' });
    expect(parked.take(name, entry.owner)).toBeUndefined();
    expect(ends).toEqual([]);
  });

  it('are given up after a quarter of an hour, and when the gateway stops', async () => {
    const clock = fakeClock();
    const parked = createParkedExchanges(clock, undefined);
    const [late, last] = [make(), make()];
    const name = await parked.park(late.entry);
    await clock.advance(15 * 60_000);
    expect(late.ends).toEqual(['abandoned', 'broken']);
    expect(parked.take(name, late.entry.owner)).toBeUndefined();
    await parked.park(last.entry);
    parked[Symbol.dispose]();
    expect([last.ends, clock.pendingTimers]).toEqual([['abandoned', 'broken'], 0]);
  });

  it('are so many at most that one client cannot use up the room of others: its oldest makes room', async () => {
    const parked = createParkedExchanges(fakeClock(), undefined);
    const other = make('bob');
    await parked.park(other.entry);
    const own = Array.from({ length: 51 }, () => make());
    for (const { entry } of own) await parked.park(entry);
    expect(own.map(({ ends }) => ends.length > 0).indexOf(true)).toBe(0);
    expect(own.filter(({ ends }) => ends.length > 0)).toHaveLength(1);
    expect(other.ends).toEqual([]);
    parked[Symbol.dispose]();
  });

  it('are so many in all, beyond which the client that has the most makes room', async () => {
    const parked = createParkedExchanges(fakeClock(), undefined);
    const many = Array.from({ length: 50 }, () => make('many'));
    for (const { entry } of many) await parked.park(entry);
    const few = Array.from({ length: 950 }, (_, at) => make(`one ${at}`));
    for (const { entry } of few) await parked.park(entry);
    expect(many[0]?.ends).toEqual([]);
    await parked.park(make('newest').entry);
    expect([many[0]?.ends, few.some(({ ends }) => ends.length > 0)]).toEqual([['abandoned', 'broken'], false]);
    parked[Symbol.dispose]();
  });
});
