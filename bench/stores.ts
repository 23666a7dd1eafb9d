import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock as clock } from '../packages/gantry/src/kernel/clock.ts';
import { silentLog as log } from '../packages/gantry/src/kernel/log.ts';
import { openPostgresStore } from '../packages/gantry/src/store/postgres/open-postgres-store.ts';
import { openSqliteStore } from '../packages/gantry/src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../packages/gantry/src/store/store.ts';
import { testKeyring } from '../packages/gantry/src/testing/test-keyring.ts';
import { hasPostgres, startPostgresServer } from '../test/fixtures/postgres-server.ts';
import { show } from './lib/stats.ts';

const keyring = testKeyring('bench');
const entries = 2_000;
const widths = [1, 16];

type Step = (store: Store, index: number) => Promise<unknown>;

/** What is measured, in this order: later steps read what earlier ones have written. */
const steps: readonly (readonly [name: string, step: Step])[] = [
  ['write a value', (store, index) => store.keyValue('bench').set(`a/${index}`, { index })],
  ['read a value', (store, index) => store.keyValue('bench').get(`a/${index}`)],
  ['put an entry of a ledger', (store, index) => store.ledger('bench').put(entryOf(`free-${index}`, index))],
  [
    'put an entry, under two caps',
    (store, index) =>
      store.ledger('bench').put(entryOf(`capped-${index}`, index), { maxOpen: 100_000, maxOpenOfOwner: 10_000 }),
  ],
  ['take an entry', (store, index) => store.ledger('bench').take(`capped-${index}`, { as: 'done' })],
  [
    'list 50 open entries',
    (store, index) => store.ledger('bench').list({ open: true, owner: `s${index % 40}`, limit: 50 }),
  ],
];

const entryOf = (id: string, index: number) => ({ id, owner: `s${index % 40}`, value: { index } });

/** The two stores side by side, both waiting for the disk, PostgreSQL on this machine. */
export const benchStores = async (): Promise<string[]> => {
  if (!hasPostgres) return ['PostgreSQL is not installed here.'];
  const folder = mkdtempSync(join(tmpdir(), 'gantry-bench-stores-'));
  try {
    await using server = await startPostgresServer({ waitsForDisk: true });
    const columns: string[][] = [];
    for (const width of widths) {
      const path = join(folder, `${width}.db`);
      const url = await server.createDatabase();
      columns.push(await measure(await openSqliteStore({ path, clock, keyring, log }), width));
      columns.push(await measure(await openPostgresStore({ url, clock, keyring, log }), width));
    }
    const heads = widths.flatMap((width) => ['SQLite', 'PostgreSQL'].map((name) => `${name}, ${width} at once`));
    return [
      `| a second | ${heads.join(' | ')} |`,
      `|---|${heads.map(() => '---|').join('')}`,
      ...steps.map(([name], row) => `| ${name} | ${columns.map((column) => column[row]).join(' | ')} |`),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** How often each step was done in a second. */
const measure = async (opened: Store, width: number): Promise<string[]> => {
  await using store = opened;
  const rates: string[] = [];
  for (const [, step] of steps) {
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = (next += 1); index <= entries; index = next += 1) await step(store, index);
    };
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: width }, work));
    rates.push(show(entries / ((performance.now() - startedMs) / 1000)));
  }
  return rates;
};
