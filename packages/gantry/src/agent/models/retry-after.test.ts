import { expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

it.each([
  [{ 'retry-after': '2' }, 2_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  [{ 'retry-after': 'Tue, 01 Dec 2026 01:01:00 GMT', date: 'Tue, 01 Dec 2026 01:00:00 GMT' }, 60_000],
  [{ 'retry-after': 'Tue, 01 Dec 2026 01:01:00 GMT' }, undefined],
  [{ 'retry-after': 'Tue, 01 Dec 2026 00:59:00 GMT', date: 'Tue, 01 Dec 2026 01:00:00 GMT' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
  [undefined, undefined],
])('%j asks to wait %s ms', (headers, ms) => {
  expect(retryAfterMs(headers)).toBe(ms);
});
