import { describe, expect, it } from 'vitest';
import type { AnyOperation } from './operation.ts';
import { parseInput } from './parse-input.ts';
import { sessionsEvents, sessionsForget, sessionsInterrupt, sessionsSend, sessionsShow } from './sessions.ts';

const operations: readonly AnyOperation[] = [
  sessionsSend,
  sessionsEvents,
  sessionsShow,
  sessionsInterrupt,
  sessionsForget,
];

describe.each(operations.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  const more = name === 'sessions.send' ? { message: 'hi' } : {};

  it.each(['a/b', '../x', 'a b', 'a\u0000b', '', 'x'.repeat(129)])('takes no %j for the id of a session', (id) => {
    expect(() => parseInput(operation, { id, ...more })).toThrow('is no session id; use up to 128 letters');
  });

  it('takes every id that a message can have', () => {
    expect(parseInput(operation, { id: 'a.B_1-2@x:y+z', ...more })).toMatchObject({ id: 'a.B_1-2@x:y+z' });
  });
});

it('takes no workspace of any length', () => {
  expect(() => parseInput(sessionsSend, { id: 'a', message: 'hi', workspace: 'w'.repeat(129) })).toThrow('workspace');
});
