import { expect, it } from 'vitest';
import { otherCaseOf } from './other-case.ts';

const find = otherCaseOf(['method', 'params', 'taskId']);

it.each(['Method', 'METHOD', 'param\u017F', 'tas\u212Aid'])('finds %s', (name) => {
  expect(find({ id: 1, [name]: 2 })).toBe(name);
});

it('finds nothing where names are exact or others', () => {
  expect(find({ method: 'a', params: {}, taskId: 't', other: 1 })).toBeUndefined();
});
