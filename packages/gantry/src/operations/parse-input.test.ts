import { expect, it } from 'vitest';
import { parseInput } from './parse-input.ts';
import { serversList } from './servers.ts';
import { toolsCall } from './tools-call.ts';

it('gives the input back when it fits', () => {
  expect(parseInput(toolsCall, { name: 'x', timeoutMs: 5 })).toEqual({ name: 'x', timeoutMs: 5 });
});

it.each([
  [{}, 'name: '],
  [{ name: 'x', timeoutMs: 'soon' }, 'timeoutMs: '],
  [{ name: 'x', sessionId: '../other' }, 'sessionId: letters, digits'],
  [{ name: 'x', timeout: 5 }, 'timeout: there is no such input; did you mean "timeoutMs"?'],
  [{ name: 'x', zzzzzzz: 5 }, 'zzzzzzz: there is no such input; known: name, arguments, sessionId, timeoutMs'],
  [null, 'tools.call: '],
])('refuses %j naming the path', (raw, part) => {
  expect(() => parseInput(toolsCall, raw)).toThrow(
    expect.objectContaining({ code: 'invalid_arguments', message: expect.stringContaining(part) }),
  );
});

it('says that nothing is taken', () => {
  expect(() => parseInput(serversList, { all: true })).toThrow('all: there is no such input; none is taken');
});
