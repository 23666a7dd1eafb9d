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
  it('are taken once, by whom they belong to', () => {
    const parked = createParkedExchanges(fakeClock());
    const { entry, ends } = make();
    const name = parked.park(entry);
    expect(parked.take(name, 'bob')).toBeUndefined();
    expect(parked.take(name, entry.owner)).toMatchObject({ client: 'alice' });
    expect(parked.take(name, entry.owner)).toBeUndefined();
    expect(ends).toEqual([]);
  });

  it('are given up after a quarter of an hour, and when the gateway stops', async () => {
    const clock = fakeClock();
    const parked = createParkedExchanges(clock);
    const [late, last] = [make(), make()];
    const name = parked.park(late.entry);
    await clock.advance(15 * 60_000);
    expect(late.ends).toEqual(['abandoned', 'broken']);
    expect(parked.take(name, late.entry.owner)).toBeUndefined();
    parked.park(last.entry);
    parked[Symbol.dispose]();
    expect([last.ends, clock.pendingTimers]).toEqual([['abandoned', 'broken'], 0]);
  });

  it('are so many at most that one client cannot use up the room of others', () => {
    const parked = createParkedExchanges(fakeClock());
    for (let count = 0; count < 50; count += 1) parked.park(make().entry);
    expect(() => parked.park(make().entry)).toThrow('Too many questions');
    expect(() => parked.park(make('bob').entry)).not.toThrow();
    parked[Symbol.dispose]();
  });
});
