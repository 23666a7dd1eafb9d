import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Log } from '../../kernel/log.ts';
import { silentLog } from '../../kernel/log.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { TierThresholds } from './choose-tier.ts';
import { chooseTier } from './choose-tier.ts';
import { createTierSelectorFile } from './tier-selector-file.ts';

let folder: string;
let clock: FakeClock;
let warnings: unknown[];
let thresholds: TierThresholds;
const write = (text: string): void => writeFileSync(join(folder, 'tier-selector.json'), text);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-tiers-'));
  clock = fakeClock();
  warnings = [];
  const log: Log = { ...silentLog, warn: (facts) => void warnings.push(facts) };
  const configured = { low: 0.15, balanced: 0.46 };
  thresholds = createTierSelectorFile({ path: join(folder, 'tier-selector.json'), configured, clock, log });
});
afterEach(() => rmSync(folder, { recursive: true }));
const tierOf = (text: string): string => chooseTier(text, thresholds);

it('leaves the configured thresholds where there is no file', () => {
  expect([tierOf('hi'), tierOf('find my invoice and send it to Anna')]).toEqual(['low', 'balanced']);
  expect(warnings).toEqual([]);
});

it('is read again after 60 seconds, not before, and gone again when the file is', async () => {
  write('{"lowCeiling": 0, "balancedCeiling": 0}');
  expect(tierOf('hi')).toBe('high');
  write('{"lowCeiling": 1}');
  await clock.advance(59_999);
  expect(tierOf('hi')).toBe('high');
  await clock.advance(1);
  expect(tierOf('hi')).toBe('low');
  rmSync(join(folder, 'tier-selector.json'));
  await clock.advance(60_000);
  expect(tierOf('find my invoice and send it to Anna')).toBe('balanced');
});

it('has words of any language that count for and against', async () => {
  write(
    '{"version": 1, "notes": "tuned", "highSignalKeywords": ["untersuche", "vergleiche"], "lowSignalKeywords": ["kurz", "schedule (me)"]}',
  );
  expect(tierOf('Vergleiche die drei, untersuche die Fehler')).toBe('high');
  expect(tierOf('vergleichen')).toBe('low');
  expect(tierOf('find my invoice and send it to Anna')).toBe('balanced');
  expect(tierOf('kurz: find my invoice and send it to Anna, kurz')).toBe('low');
});

it.each(['{"lowCeiling": 7}', '{"highSignalKeywords": "x"}', 'no json', '{"unknown": 1}'])(
  'keeps what it had when the file says %s, and reports it once',
  async (text) => {
    write('{"lowCeiling": 0, "balancedCeiling": 0}');
    expect(tierOf('hi')).toBe('high');
    write(text);
    await clock.advance(60_000);
    expect(tierOf('hi')).toBe('high');
    await clock.advance(60_000);
    expect(tierOf('hi')).toBe('high');
    expect(warnings).toHaveLength(1);
  },
);
