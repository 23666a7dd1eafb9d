import { expect, it } from 'vitest';
import type { GivenValues } from './given-values.ts';
import { toGivenValues } from './given-values.ts';

it.each<[string, GivenValues]>([
  ['Roots of a quadratic equation with a=2, b=-5 and c=3.5', { numbers: 3, dates: 0, texts: 0 }],
  ['Book two seats', { numbers: 1, dates: 0, texts: 0 }],
  ['Weather in San Francisco on 2026-03-04', { numbers: 0, dates: 1, texts: 1 }],
  ['Flights from Paris to Rome on March 10th, 2027 at 4pm', { numbers: 0, dates: 2, texts: 2 }],
  ['the average of [1, 2, 3] and 4', { numbers: 1, dates: 0, texts: 0 }],
  ['play "Baby Shark" tomorrow', { numbers: 0, dates: 1, texts: 1 }],
  ['What is the population of California in 1970?', { numbers: 0, dates: 1, texts: 1 }],
  ['gpt4 or utf8', { numbers: 0, dates: 0, texts: 0 }],
  ['', { numbers: 0, dates: 0, texts: 0 }],
])('%s', (request, values) => {
  expect(toGivenValues(request)).toEqual(values);
});
