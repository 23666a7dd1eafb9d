import { expect, it } from 'vitest';
import { refusesOlder } from './refuses-older.ts';

const json = new Headers({ 'content-type': 'application/json' });
const hello = (protocolVersion: string) => ({ method: 'initialize', params: { protocolVersion } });
const fault = (code: number, data?: object): string => JSON.stringify({ id: 1, error: { code, message: 'no', data } });

it.each([
  ['the method is not known', fault(-32_601)],
  ['the revision is not supported', fault(-32_022)],
  ['only newer ones are', fault(-32_022, { supported: ['2026-07-28'] })],
])('hears from "%s" that a server speaks no older revision', async (_says, answer) => {
  expect(await refusesOlder(hello('2025-06-18'), answer, json)).toBe(true);
  const events = new Headers({ 'content-type': 'text/event-stream' });
  expect(await refusesOlder(hello('2025-06-18'), `data: ${answer}\n\n`, events)).toBe(true);
});

it.each([
  ['another error', fault(-32_000)],
  ['no JSON', 'Service unavailable'],
  ['an older revision among those that are supported', fault(-32_022, { supported: ['2026-07-28', '2025-11-25'] })],
  ['a welcome that mentions the code', JSON.stringify({ result: { instructions: '"code": -32601' } })],
])('hears nothing of the kind from %s', async (_what, answer) => {
  expect(await refusesOlder(hello('2025-06-18'), answer, json)).toBe(false);
});

it('learns nothing from the refusal of a revision that nobody speaks', async () => {
  expect(await refusesOlder(hello('1999-01-01'), fault(-32_022), json)).toBe(false);
  expect(await refusesOlder({ method: 'initialize' }, fault(-32_601), json)).toBe(false);
});
