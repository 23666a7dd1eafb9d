import { expect, it } from 'vitest';
import { GantryError } from '../kernel/errors.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { startOrInterrupted } from './start-or-interrupted.ts';

const interruption = new GantryError('cancelled', 'Interrupted.');

it('gives a start that is interrupted 2 s to come to its end, so that it can be stopped in order', async () => {
  const clock = fakeClock();
  const starting = Promise.withResolvers<string>();
  const started = startOrInterrupted(starting.promise, { clock, interrupted: AbortSignal.abort(interruption) });
  await clock.advance(1999);
  starting.resolve('here');
  expect(await started).toBe('here');
});

it('gives up a start that does not end after that', async () => {
  const clock = fakeClock();
  const user = new AbortController();
  const started = startOrInterrupted(new Promise(() => {}), { clock, interrupted: user.signal });
  const refused = expect(started).rejects.toBe(interruption);
  await clock.advance(60_000);
  user.abort(interruption);
  await clock.advance(2000);
  await refused;
});

it('says why a start failed', async () => {
  const failing = Promise.reject(new Error('no disk'));
  const { signal: interrupted } = new AbortController();
  await expect(startOrInterrupted(failing, { clock: fakeClock(), interrupted })).rejects.toThrow('no disk');
});
