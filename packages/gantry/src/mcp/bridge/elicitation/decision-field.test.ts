import { expect, it } from 'vitest';
import { isDecision } from './decision-field.ts';
import type { FormField } from './form-field.ts';

const choice = (values: readonly string[], titles: readonly string[] = []): FormField => ({
  name: 'go',
  type: 'choice',
  required: true,
  options: values.map((value, index) => ({ value, title: titles[index] })),
});

it.each<[string, FormField]>([
  ['a boolean', { name: 'go', type: 'boolean', required: false }],
  ['a choice of yes and no', choice(['yes', 'no'])],
  ['one in capitals and blanks', choice([' Approve ', 'DENY', 'skip'])],
  ['a single word to confirm', choice(['confirm'])],
  ['one that is shown as yes and no', choice(['1', '0'], ['Yes', 'No'])],
  ['a list of such words', { ...choice(['confirm']), type: 'choices' }],
])('%s is a decision', (_what, field) => {
  expect(isDecision(field)).toBe(true);
});

it.each<[string, FormField]>([
  ['a choice with anything else in it', choice(['yes', 'no', 'later'])],
  ['a choice of data', choice(['work', 'home'])],
  ['one that says more than yes', choice(['a', 'b'], ['Yes, to Berlin', 'Yes, to Rome'])],
  ['a text', { name: 'yes', type: 'string', required: true }],
  ['a number', { name: 'yes', type: 'integer', required: true }],
])('%s is data', (_what, field) => {
  expect(isDecision(field)).toBe(false);
});
