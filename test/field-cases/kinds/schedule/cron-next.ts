import { outOfRange, unmentioned } from '../../lib/compare.ts';
import { asText } from '../../lib/read-cases.ts';
import type { Handler } from '../../lib/verdict.ts';
import { refuseUnread } from '../../lib/verdict.ts';
import { judgePlanned, plan } from './planned.ts';

/** Cron lines → the times they stand for, or a refusal. */
export const cronNext: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['cron', 'timeZone', 'after', 'rows']);
  refuseUnread(expect, 'the expectation', ['next', 'orElse', 'describeMentions', 'rows', 'all', 'maxMsEach']);
  const rows = Array.isArray(input['rows']) ? input['rows'].map(asText) : [asText(input['cron'])];
  const options = { nowMs: Date.parse(asText(input['after'])), zone: asText(input['timeZone']) };
  return rows.flatMap((cron, index) => {
    const wanted = Array.isArray(expect['rows'])
      ? expect['rows'][index]
      : (expect['all'] ??
        (expect['orElse'] === undefined ? expect['next'] : { oneOf: [expect['next'], expect['orElse']] }));
    const count = Array.isArray(expect['next']) ? expect['next'].length : 1;
    const startedMs = performance.now();
    const planned = plan({ cron }, { ...options, count });
    const took = performance.now() - startedMs;
    const notes = 'notes' in planned ? planned.notes : '';
    return [
      ...judgePlanned(`"${cron}"`, planned, wanted),
      ...(expect['describeMentions'] === undefined
        ? []
        : unmentioned(`the notes on "${cron}"`, notes, expect['describeMentions'])),
      ...(expect['maxMsEach'] === undefined
        ? []
        : outOfRange(`"${cron}", milliseconds`, took, { max: expect['maxMsEach'] })),
    ];
  });
};
