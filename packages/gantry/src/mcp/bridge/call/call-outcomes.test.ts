import { expect, it } from 'vitest';
import type { ConnectionFault } from '../connection/connection-errors.ts';
import { faultOutcome } from './call-outcomes.ts';

const writer = { annotations: { destructiveHint: true } };
const reader = { annotations: { readOnlyHint: true } };
const reset = { kind: 'disconnected', message: 'other side closed', notRun: false } as const;
const unknown = /whether the request was carried out is unknown\. Check what it did before you call the tool again\.$/;

it.each<[string, ConnectionFault, typeof writer | typeof reader | undefined, RegExp, string]>([
  ['cannot be repeated as it stands when it may have run', reset, writer, unknown, 'never'],
  [
    'may be repeated when its tool only reads',
    reset,
    reader,
    /broke before it answered \(other side closed\)/,
    'later',
  ],
  [
    'may be repeated when it reached nobody',
    { kind: 'disconnected', message: 'connect ECONNREFUSED', notRun: true },
    writer,
    /^Server "s" cannot be reached: connect ECONNREFUSED$/,
    'later',
  ],
  ['may be repeated when nothing of it was sent', reset, undefined, /^Server "s" cannot be reached: other/, 'later'],
  ['cannot be repeated when a proxy gave up waiting', { ...reset, status: 504 }, writer, unknown, 'never'],
  ['may be repeated when the server is busy', { ...reset, status: 503 }, writer, /^Server "s" cannot be/, 'later'],
  [
    'cannot be repeated when its answer was cut off',
    { kind: 'cut_off', message: 'it ended; whether the request was carried out is unknown.' },
    writer,
    unknown,
    'never',
  ],
])('a call without an answer %s', (_what, fault, sentTool, message, retry) => {
  expect(faultOutcome('s', fault, sentTool)).toMatchObject({
    failure: { code: 'execution_failed', message: expect.stringMatching(message) as string, retry },
  });
});
