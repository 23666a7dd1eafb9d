import { expect, it } from 'vitest';
import type { GivenValues } from './given-values.ts';
import { valueFit } from './value-fit.ts';
import type { WantedValues } from './wanted-values.ts';

const given = (change: Partial<GivenValues> = {}): GivenValues => ({ numbers: 0, dates: 0, texts: 0, ...change });
const wanted = (required: Partial<GivenValues>, mostNumbers = required.numbers ?? 0): WantedValues => ({
  required: given(required),
  mostNumbers,
});

it.each<[string, GivenValues, WantedValues | undefined]>([
  ['everything is there', given({ numbers: 2, dates: 1 }), wanted({ numbers: 2, dates: 1 })],
  ['there is nothing to go by', given({ numbers: 5 }), undefined],
  ['numbers can go into a list', given({ numbers: 5 }), wanted({}, Number.POSITIVE_INFINITY)],
  ['names have no place: they are often no values', given({ texts: 4 }), wanted({})],
])('takes nothing away when %s', (_what, values, wants) => {
  expect(valueFit(values, wants)).toBe(1);
});

it.each<[string, GivenValues, WantedValues]>([
  ['numbers', given(), wanted({ numbers: 1 })],
  ['dates', given(), wanted({ dates: 1 })],
  ['texts', given(), wanted({ texts: 1 })],
])('takes something away when required %s are missing, more for more of them, within bounds', (kind, values, one) => {
  const two = wanted({ [kind]: 2 }, 0);
  const many = wanted({ [kind]: 50 }, 0);
  expect(valueFit(values, one)).toBeLessThan(1);
  expect(valueFit(values, two)).toBeLessThan(valueFit(values, one));
  expect(valueFit(values, many)).toBeGreaterThan(0.7);
});

it('takes something away when a number has no place to go', () => {
  expect(valueFit(given({ numbers: 3 }), wanted({ numbers: 1 }))).toBeLessThan(
    valueFit(given({ numbers: 2 }), wanted({ numbers: 1 })),
  );
});
