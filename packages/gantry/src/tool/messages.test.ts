import { describe, expect, it } from 'vitest';
import { fromReply, reportedFailure, toReply } from './messages.ts';
import type { Outcome } from './outcome.ts';
import { failedOutcome, textOutcome } from './outcome.ts';

const call = { id: 'c1', name: 'search' };
const parked: Outcome = {
  status: 'parked',
  handle: { kind: 'task', id: 't_1', expiresAt: '2026-01-01T00:00:00.000Z' },
  parts: [{ type: 'text', text: 'started' }],
};

describe('an outcome on the bus', () => {
  it.each<[string, Outcome]>([
    [
      'done with parts, structure, meta and attachments',
      {
        status: 'done',
        parts: [
          { type: 'text', text: 'hi' },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        ],
        structured: { a: 1 },
        meta: { k: 'v' },
        attachments: [{ path: '/s/a.png', name: 'a.png', size: 3, mime: 'image/png' }],
      },
    ],
    [
      'done with nothing',
      { status: 'done', parts: [], structured: undefined, meta: undefined, attachments: undefined },
    ],
    [
      'done, with which the turn is over',
      {
        status: 'done',
        parts: [{ type: 'text', text: 'sent' }],
        structured: undefined,
        meta: undefined,
        attachments: undefined,
        endTurn: true,
      },
    ],
    [
      'done, with something for a model to look at',
      {
        status: 'done',
        parts: [{ type: 'text', text: 'a chart' }],
        structured: undefined,
        meta: undefined,
        attachments: undefined,
        contextItem: { text: 'A chart.', media: [{ path: 'a.png', mediaType: 'image/png' }] },
      },
    ],
    ['parked', parked],
    ['failed on the way', failedOutcome('timeout', 'No result within 5 ms.', 'later')],
    [
      'failed as the tool said',
      reportedFailure({
        parts: [{ type: 'text', text: 'no such order' }],
        structured: undefined,
        meta: undefined,
        attachments: undefined,
      }),
    ],
  ])('comes back as it went: %s', (_what, outcome) => {
    expect(fromReply(toReply(outcome, call))).toEqual(outcome);
    expect(fromReply(JSON.parse(JSON.stringify(toReply(outcome, call))))).toEqual(outcome);
  });

  it('is a response when the tool itself reported the error, and an error when it never got that far', () => {
    const reported = toReply(reportedFailure({ parts: [{ type: 'text', text: 'no such order' }] }), call);
    expect(reported).toMatchObject({
      type: 'ToolInvokeResponse',
      body: { isError: true, content: 'no such order', toolCallId: 'c1', toolName: 'search' },
    });
    const error = toReply(failedOutcome('invalid_arguments', 'q is missing'), call);
    expect(error).toEqual({
      type: 'ToolError',
      body: {
        toolCallId: 'c1',
        toolName: 'search',
        code: 'invalid_arguments',
        message: 'q is missing',
        isRetryable: false,
      },
    });
  });

  it('is an error when the result nests too deep to be written, whoever reported it', () => {
    const structured = JSON.parse('{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)) as { a: number };
    for (const outcome of [
      { status: 'done', parts: [], structured },
      { status: 'done', parts: [{ type: 'text', text: 'x', _meta: structured } as never] },
      { status: 'done', parts: [], meta: structured },
      reportedFailure({ parts: [], structured }),
    ] as Outcome[])
      expect(toReply(outcome, call)).toMatchObject({
        type: 'ToolError',
        body: { code: 'execution_failed', message: expect.stringContaining('JSON nested deeper than 200 levels') },
      });
  });

  it('carries the handle of a parked call in a response that is no error', () => {
    expect(toReply(parked, call)).toMatchObject({
      type: 'ToolInvokeResponse',
      body: { isError: false, handle: { kind: 'task', id: 't_1' } },
    });
  });

  it('reads a response that has only the text form', () => {
    expect(
      fromReply({
        type: 'ToolInvokeResponse',
        body: { toolCallId: 'c', toolName: 't', content: 'hi', isError: false },
      }),
    ).toMatchObject(textOutcome('hi'));
  });
});
