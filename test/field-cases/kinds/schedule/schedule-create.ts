import { isObject } from '../../../../packages/gantry/src/kernel/json.ts';
import { asText, rowsOf } from '../../lib/read-cases.ts';
import type { Handler } from '../../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../../lib/verdict.ts';
import { judgePlanned, plan } from './planned.ts';

/** Requests to schedule something → what is answered. */
export const scheduleCreate: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  refuseUnread(input, 'the input', ['now', 'timeZone', 'hostZone', 'rows']);
  refuseUnread(expect, 'the expectation', ['rows']);
  const nowMs = Date.parse(asText(input['now']));
  const zone = asText(input['timeZone'] ?? input['hostZone']);
  const wanted = Array.isArray(expect['rows']) ? expect['rows'] : [];
  return rowsOf(fieldCase).flatMap((row, index) => {
    if (!isObject(row)) throw new NotCovered('a row is no request');
    refuseUnread(row, 'a row', ['cron', 'at', 'timeZone']);
    const { cron, at, timeZone } = row as { cron?: string; at?: string; timeZone?: string };
    return judgePlanned(JSON.stringify(row), plan({ cron, at, timeZone }, { nowMs, zone, count: 1 }), wanted[index]);
  });
};
