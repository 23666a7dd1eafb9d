import { expect, it } from 'vitest';
import { withPlainIssues } from './plain-issues.ts';

const issue = { expected: 'string', code: 'invalid_type', path: ['params', 'cursor'], message: 'Invalid input: a' };
const union = { code: 'invalid_union', errors: [], path: [], message: 'Invalid input' };

it.each([
  ['findings', JSON.stringify([issue], null, 2), 'params.cursor: invalid input: a'],
  [
    'findings behind words',
    `Invalid request: ${JSON.stringify([issue])}`,
    'Invalid request: params.cursor: invalid input: a',
  ],
  ['a message of no known form', JSON.stringify([union]), 'it does not have a form that MCP knows'],
  ['plain words', 'no [x] here', 'no [x] here'],
  ['JSON of another kind', '[{"a":1}]', '[{"a":1}]'],
])('says %s in plain words', (_what, message, plain) => {
  expect(withPlainIssues(message)).toBe(plain);
});
