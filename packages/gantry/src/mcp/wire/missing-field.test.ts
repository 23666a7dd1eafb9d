import { expect, it } from 'vitest';
import { missingFieldIn } from './missing-field.ts';

it.each([
  ['Required parameter timeZone', 'timeZone'],
  ['Error: required parameter: "time_zone" was not given', 'time_zone'],
  ["missing required argument 'path'", 'path'],
  ['Expected field `id` in body', 'id'],
  ['city is required', 'city'],
  ['"city" is required.', 'city'],
  ['range: must be provided', 'range'],
  ['The order 17 was not found', undefined],
  ['Nothing', undefined],
])('%j names %j', (text, field) => {
  expect(missingFieldIn(text)).toBe(field);
});
