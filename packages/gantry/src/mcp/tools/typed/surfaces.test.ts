import { expect, it } from 'vitest';
import type { Log } from '../../../kernel/log.ts';
import { silentLog } from '../../../kernel/log.ts';
import type { KeyValue, KeyValueEntry } from '../../../store/key-value.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { CallContext } from '../../../tool/context.ts';
import { createModes } from './modes.ts';
import type { Activation, Surface } from './surfaces.ts';
import { createSurfaces } from './surfaces.ts';

const one: CallContext = { caller: 'model', namespace: 'session/1', tier: 'high' };
const activation = (name: string): Activation => ({ name, server: 's', print: 'p' });

/** A store of one value per key that counts its writes, and fails when told to. */
const open = (broken = false) => {
  const clock = fakeClock();
  const entries = new Map<string, KeyValueEntry<Surface>>();
  const writes: (number | undefined)[] = [];
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_facts, message) => warnings.push(message) };
  const keyValue: KeyValue<Surface> = {
    get: async (key) => {
      if (broken) throw new Error('no disk');
      return entries.get(key);
    },
    set: async (key, value, { ttlMs } = {}) => {
      if (broken) throw new Error('no disk');
      writes.push(ttlMs);
      entries.set(key, { key, value, writtenAtMs: clock.nowMs() });
      return true;
    },
    delete: async (key) => entries.delete(key),
    list: async () => [...entries.values()],
    count: async () => entries.size,
    sweep: async () => 0,
  };
  const surfaces = createSurfaces({ modes: createModes({}), keyValue, clock, log });
  return { surfaces, clock, entries, writes, warnings };
};

it('writes what a session made its own, for as long as it may be idle, before it says so', async () => {
  const { surfaces, entries, writes } = open();
  expect(await surfaces.activate(one, [activation('a')])).toBe(true);
  expect(entries.get('session/1')?.value.activations).toEqual([activation('a')]);
  expect(writes).toEqual([720 * 60_000]);
});

it('does not write which of its servers was called last', async () => {
  const { surfaces, writes } = open();
  await surfaces.pin(one, 'a');
  await surfaces.pin(one, 'b');
  await surfaces.pin(one, 'a');
  expect(surfaces.get(one)?.pins).toEqual(['b', 'a']);
  expect(writes).toHaveLength(2);
});

it('writes again from time to time while a session is in use', async () => {
  const { surfaces, clock, writes } = open();
  await surfaces.activate(one, [activation('a')]);
  await surfaces.prepare(one);
  expect(writes).toHaveLength(1);
  await clock.advance(2 * 3_600_000);
  await surfaces.prepare(one);
  expect(writes).toHaveLength(2);
});

it('takes over what another process wrote later', async () => {
  const { surfaces, clock, entries } = open();
  await surfaces.activate(one, [activation('a')]);
  await clock.advance(1_000);
  const value: Surface = { activations: [activation('b')], pins: [] };
  entries.set('session/1', { key: 'session/1', value, writtenAtMs: clock.nowMs() });
  expect(surfaces.get(one)?.activations).toEqual([activation('a')]);
  await surfaces.prepare(one);
  expect(surfaces.get(one)?.activations).toEqual([activation('b')]);
});

it('goes on without a store that fails, with a warning', async () => {
  const { surfaces, warnings } = open(true);
  expect(await surfaces.activate(one, [activation('a')])).toBe(true);
  expect(surfaces.get(one)?.activations).toEqual([activation('a')]);
  expect(warnings.length).toBeGreaterThan(0);
});

it('keeps the first of a batch that is larger than a session may hold', async () => {
  const { surfaces } = open();
  await surfaces.activate(
    one,
    Array.from({ length: 50 }, (_, at) => activation(`t${at}`)),
  );
  const names = surfaces.get(one)?.activations.map(({ name }) => name);
  expect([names?.length, names?.[0], names?.at(-1)]).toEqual([40, 't0', 't39']);
});

it.each<{ who: string; context: CallContext; kept: boolean }>([
  { who: 'a run', context: one, kept: true },
  { who: 'a run without a session', context: { caller: 'model', tier: 'high' }, kept: false },
  { who: 'a connection', context: { caller: 'client', connection: 'c' }, kept: true },
  { who: 'a client with an identity', context: { caller: 'client', client: 'c' }, kept: true },
  { who: 'a client without any', context: { caller: 'client' }, kept: false },
  {
    who: 'a client that lists everything',
    context: { caller: 'client', client: 'c', wrapperMode: 'eager' },
    kept: false,
  },
  { who: 'a run that is told to list nothing', context: { ...one, wrapperMode: 'off' }, kept: false },
])('keeps for $who: $kept', async ({ context, kept }) => {
  const { surfaces } = open();
  expect(surfaces.keeps(context)).toBe(kept);
  expect(await surfaces.activate(context, [activation('a')])).toBe(kept);
});
