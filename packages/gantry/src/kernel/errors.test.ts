import { describe, expect, it } from 'vitest';
import { GantryError, messageOf } from './errors.ts';

describe('GantryError', () => {
  it.each([
    ['timeout', undefined, 'later'],
    ['store_unavailable', undefined, 'later'],
    ['invalid_arguments', undefined, 'never'],
    ['execution_failed', 'same', 'same'],
    ['timeout', 'never', 'never'],
  ] as const)('%s with the hint %s may be tried again: %s', (code, retry, expected) => {
    expect(new GantryError(code, 'x', { retry }).retry).toBe(expected);
  });

  it('keeps details and cause, and has no cause when none is given', () => {
    const cause = new Error('inner');
    const error = new GantryError('execution_failed', 'outer', { details: { server: 'wiki' }, cause });
    expect(error).toMatchObject({ name: 'GantryError', message: 'outer', details: { server: 'wiki' }, cause });
    expect('cause' in new GantryError('stopped', 'x')).toBe(false);
  });

  it('is recognised across copies of the library, and nothing else is', () => {
    const foreign = Object.assign(new Error('x'), { [Symbol.for('gantry.error')]: true });
    expect([new GantryError('stopped', 'x'), foreign].map((value) => GantryError.is(value))).toEqual([true, true]);
    expect([new Error('x'), null, undefined, 'x', { code: 'stopped' }].some((value) => GantryError.is(value))).toBe(
      false,
    );
  });
});

describe('messageOf', () => {
  it.each([
    [new Error('broken'), 'broken'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
  ])('reads %s', (thrown, message) => {
    expect(messageOf(thrown)).toBe(message);
  });
});
