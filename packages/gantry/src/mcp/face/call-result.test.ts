import { expect, it } from 'vitest';
import type { Outcome } from '../../tool/outcome.ts';
import { failedOutcome } from '../../tool/outcome.ts';
import { reportedFailure } from '../../tool/messages.ts';
import { toRegistration } from '../../tool/registration.ts';
import { toCallToolResult } from './call-result.ts';

const plain = toRegistration({ name: 't', description: 'd', source: 's' });
const structured = toRegistration({ name: 't', description: 'd', source: 's', outputSchema: { type: 'object' } });
const parts = [{ type: 'text', text: 'x' }] as const;
const handle = { kind: 'task', id: 't1', expiresAt: '2026-01-01T00:00:00Z' } as const;
const parked: Outcome = { status: 'parked', handle, parts };

it.each([
  { what: 'parts', outcome: { status: 'done', parts } as Outcome, result: { content: parts } },
  { what: 'nothing', outcome: { status: 'done', parts: [] } as Outcome, result: { content: [] } },
  {
    what: 'a structured null',
    outcome: { status: 'done', parts: [], structured: null } as Outcome,
    result: { content: [], structuredContent: null },
  },
  {
    what: 'the meta of a result',
    outcome: { status: 'done', parts, meta: { 'a.b/c': 1 } } as Outcome,
    result: { content: parts, _meta: { 'a.b/c': 1 } },
  },
  {
    what: 'an error that the tool reported, with all it said',
    outcome: reportedFailure({ parts, structured: { why: 1 } }),
    result: { content: parts, structuredContent: { why: 1 }, isError: true },
  },
  {
    what: 'a failure before the tool ran as its message',
    outcome: failedOutcome('timeout', 'too slow'),
    result: { content: [{ type: 'text', text: 'too slow' }], isError: true },
  },
])('says $what', ({ outcome, result }) => {
  expect(toCallToolResult(outcome, plain)).toEqual(result);
});

it('says a parked call with its handle, as an error only where a structured result was promised', () => {
  const result = { content: parts, _meta: { 'gantry/handle': handle } };
  expect(toCallToolResult(parked, plain)).toEqual(result);
  expect(toCallToolResult(parked, structured)).toEqual({ ...result, isError: true });
});
