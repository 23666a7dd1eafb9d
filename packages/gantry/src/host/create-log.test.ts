import { expect, it } from 'vitest';
import { GantryError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { createLog } from './create-log.ts';

const logTo = (isTTY = false): { log: Log; lines: string[] } => {
  const lines: string[] = [];
  return { log: createLog({ level: 'info' }, { write: (line) => lines.push(line), isTTY }), lines };
};

it('writes one JSON line per event, from the level that is asked for', () => {
  const { log, lines } = logTo();
  log.debug({}, 'too quiet');
  log.warn({ server: 'wiki' }, 'is slow');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 'warn', server: 'wiki', msg: 'is slow' });
});

it('is readable on a terminal', () => {
  const { log, lines } = logTo(true);
  log.warn({ server: 'wiki' }, 'is slow');
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}is slow server=wiki\n$/);
});

it('masks values of credential-named keys and secret-shaped texts, however deep', () => {
  const { log, lines } = logTo();
  log.info(
    {
      headers: { Authorization: 'Bearer abc123def456' },
      url: 'https://ada:hunter2@example.com/',
      note: 'key sk-abcdefghijklmnop1234',
    },
    'm',
  );
  expect(lines[0]).not.toMatch(/abc123def456|hunter2|sk-abcdef/);
});

it('tells an error with its code, stack and cause, without the secrets in them', () => {
  const { log, lines } = logTo();
  const cause = new Error('refused: Bearer abc123def456');
  log.error({ err: new GantryError('execution_failed', 'The call failed.', { cause }) }, 'm');
  expect(lines[0]).toMatch(/execution_failed/);
  expect(lines[0]).toMatch(/refused/);
  expect(lines[0]).not.toContain('abc123def456');
});
