import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import { toConnectionFault } from './connection-errors.ts';
import { toLostAnswer } from './lost-answer.ts';
import { responseTooLarge } from './response-limit.ts';

const errorOf = (message: string, members: object, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), members);
const lost = (error: GantryError): Error => {
  const { code, message, data } = toLostAnswer(1, error).error;
  return errorOf(message, { code, data });
};

describe('what a thrown error means for a call', () => {
  it.each<[string, unknown, object]>([
    [
      'a refused port',
      errorOf('probe failed', { code: 'X' }, errorOf('', { code: 'ECONNREFUSED' })),
      { kind: 'disconnected', notRun: true },
    ],
    [
      'an error of the server that says to have a status of HTTP',
      errorOf('Error POSTing to endpoint (HTTP 401)', { code: -32_000, data: { status: 401 } }),
      { kind: 'refused', code: -32_000 },
    ],
    ['an unknown host', errorOf('getaddrinfo', { code: 'ENOTFOUND' }), { kind: 'disconnected', notRun: true }],
    [
      'a connection that could not be made in time',
      errorOf('fetch failed', {}, errorOf('connect ETIMEDOUT', { code: 'ETIMEDOUT', syscall: 'connect' })),
      { kind: 'disconnected', notRun: true },
    ],
    [
      'a certificate that is not trusted',
      errorOf('fetch failed', {}, errorOf('self-signed certificate', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })),
      { kind: 'disconnected', notRun: true },
    ],
    [
      'a reset connection',
      errorOf('other side closed', { code: 'UND_ERR_SOCKET' }),
      { kind: 'disconnected', notRun: false },
    ],
    [
      'a program that is gone',
      new GantryError('server_unreachable', 'gone', { retry: 'same' }),
      { kind: 'disconnected', notRun: true },
    ],
    ['a stream without an answer', lost(new GantryError('server_unreachable', 'ended')), { kind: 'cut_off' }],
    [
      'a stand-in that the server has written',
      errorOf('mine', { code: -32_090, data: { 'gantry.dev/lost-answer': { code: 'limit_reached', details: {} } } }),
      { kind: 'refused', code: -32_090 },
    ],
    ['an answer that is too large', lost(responseTooLarge({ server: 's', maxBytes: 5 })), { kind: 'bad_answer' }],
    ['a session that is not known', errorOf('POST', { data: { status: 404 } }), { kind: 'session_lost' }],
    [
      'status 400 about the session',
      errorOf('POST', {
        data: { status: 400, text: '{"error":{"message":"Bad Request: No valid session ID provided"}}' },
      }),
      { kind: 'session_lost' },
    ],
    [
      'status 400 about something else',
      errorOf('POST', { data: { status: 400, text: 'Your session with the bank has expired' } }),
      { kind: 'bad_answer' },
    ],
    ['status 401', errorOf('POST', { data: { status: 401 } }), { kind: 'auth' }],
    ['a missing token', Object.assign(errorOf('Unauthorized', {}), { name: 'UnauthorizedError' }), { kind: 'auth' }],
    [
      'status 503',
      errorOf('POST', { data: { status: 503, text: 'busy' } }),
      { kind: 'disconnected', notRun: false, message: 'it answered with status 503: busy' },
    ],
    ['status 500', errorOf('POST', { data: { status: 500 } }), { kind: 'bad_answer' }],
    ['a JSON-RPC error', errorOf('bad n', { code: -32_602 }), { kind: 'refused', code: -32_602, message: 'bad n' }],
    ['no JSON', new SyntaxError('Unexpected token'), { kind: 'bad_answer' }],
  ])('%s', (_what, error, fault) => {
    expect(toConnectionFault(error, { hadSession: true })).toMatchObject(fault);
  });

  it('takes a 404 for a bad answer when there was no session', () => {
    const error = errorOf('POST', { data: { status: 404 } });
    expect(toConnectionFault(error, { hadSession: false })).toMatchObject({ kind: 'bad_answer' });
  });

  it('shows no secret of a body', () => {
    const error = errorOf('POST', { data: { status: 401, text: 'Bearer abcdefgh12345678 is not valid' } });
    expect(toConnectionFault(error, { hadSession: false }).message).not.toContain('abcdefgh12345678');
  });
});
