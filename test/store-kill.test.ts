import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../packages/gantry/src/kernel/clock.ts';
import { silentLog } from '../packages/gantry/src/kernel/log.ts';
import { openSqliteStore } from '../packages/gantry/src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../packages/gantry/src/store/store.ts';
import { testKeyring } from '../packages/gantry/src/testing/test-keyring.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-kill-'));
});
afterAll(() => rm(folder, { recursive: true }));

const writerFile = join(import.meta.dirname, 'fixtures/store-writer.ts');

/** Starts a writer, kills it after so many acknowledgements, and gives all that it acknowledged. */
const writeUntilKilled = async (path: string, prefix: string, acknowledgements: number): Promise<string[]> => {
  const child = spawn(process.execPath, [writerFile, path, prefix], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === acknowledgements) child.kill('SIGKILL');
  }
  expect(await exited).toEqual([null, 'SIGKILL']);
  return lines;
};

const isThere = async (store: Store, line: string): Promise<boolean> => {
  const [what, id = ''] = line.split(' ');
  switch (what) {
    case 'value':
      return (await store.keyValue<string>('values').get(id))?.value === id.repeat(20);
    case 'document':
      return (await store.documents<string>('documents').get(id))?.value === id;
    case 'open':
      return (await store.ledger<string>('ledger').get(id))?.value === id;
    default:
      return (await store.ledger<string>('ledger').get(id))?.settlement?.as === 'done';
  }
};

it('has every write that a killed process had acknowledged, however often it is killed', async () => {
  const path = join(folder, 'store.db');
  const acknowledged: string[] = [];
  for (let round = 0; round < 6; round += 1) {
    const kills = [1, 2].map((process) =>
      writeUntilKilled(path, `${round}.${process}`, 1 + Math.floor(Math.random() * 400)),
    );
    acknowledged.push(...(await Promise.all(kills)).flat());
    await using store = await openSqliteStore({
      path,
      clock: systemClock,
      keyring: testKeyring('k1'),
      log: silentLog,
    });
    const missing: string[] = [];
    for (const line of acknowledged) if (!(await isThere(store, line))) missing.push(line);
    expect(missing).toEqual([]);
  }
  expect(acknowledged.length).toBeGreaterThan(12);
});
