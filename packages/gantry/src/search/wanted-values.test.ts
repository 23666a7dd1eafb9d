import { expect, it } from 'vitest';
import { toWantedValues } from './wanted-values.ts';

it('counts what is required by kind, and the numbers that could go somewhere', () => {
  const inputSchema = {
    type: 'object',
    properties: {
      amount: { type: 'number' },
      count: { type: ['integer', 'null'] },
      start_date: { type: 'string' },
      at: { type: 'string', format: 'date-time' },
      city: { type: 'string' },
      note: { type: 'string' },
      verbose: { type: 'boolean' },
    },
    required: ['amount', 'start_date', 'at', 'city', 'verbose'],
  };
  expect(toWantedValues(inputSchema)).toEqual({ required: { numbers: 1, dates: 2, texts: 1 }, mostNumbers: 3 });
});

it('lets any number go into a list', () => {
  const inputSchema = { type: 'object', properties: { values: { type: 'array' } }, required: ['values'] };
  expect(toWantedValues(inputSchema)).toEqual({
    required: { numbers: 0, dates: 0, texts: 0 },
    mostNumbers: Number.POSITIVE_INFINITY,
  });
});

it.each([undefined, null, 'text', {}, { properties: [] }, { type: 'object' }])('says nothing of %j', (inputSchema) => {
  expect(toWantedValues(inputSchema)).toBeUndefined();
});

it('reads properties that are no schemas as absent', () => {
  expect(toWantedValues({ properties: { a: true }, required: 'a' })).toEqual({
    required: { numbers: 0, dates: 0, texts: 0 },
    mostNumbers: 0,
  });
});
