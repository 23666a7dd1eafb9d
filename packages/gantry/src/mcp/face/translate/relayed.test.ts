import { expect, it } from 'vitest';
import { takesQuestion } from './relayed.ts';

const form = { message: 'Which box?', requestedSchema: { type: 'object', properties: {} } };
const page = { mode: 'url', message: 'Look', url: 'https://pages.example/' };

it.each([
  ['a form', {}, form, true],
  ['a form', { form: {} }, form, true],
  ['a form', { url: {} }, form, false],
  ['a page', {}, page, false],
  ['a page', { form: {} }, page, false],
  ['a page', { form: {}, url: {} }, page, true],
  ['a mode of no name', { form: {}, url: {} }, { ...form, mode: null }, false],
  ['a question without parameters', { form: {} }, undefined, false],
  ['a form', undefined, form, false],
])('%s goes to a client with %j as its capability', (_what, elicitation, params, expected) => {
  expect(takesQuestion({ elicitation }, { isDeclined: () => false }, params)).toBe(expected);
  expect(takesQuestion({ elicitation }, { isDeclined: () => true }, params)).toBe(false);
});
