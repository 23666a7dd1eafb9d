import { expect, it } from 'vitest';
import { headerProblem } from './mirrored-headers.ts';

const asking = (header: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': header });
const withProperties = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

it.each([
  ['nothing', withProperties({ a: { type: 'string' } })],
  [
    'a text, a whole number and a boolean',
    withProperties({ a: asking('A'), b: asking('B', 'integer'), c: asking('C', 'boolean') }),
  ],
  ['an argument inside another', withProperties({ a: withProperties({ b: asking('B') }) })],
  ['an argument that is called like the keyword', withProperties({ 'x-mcp-header': { type: 'string' } })],
  ['a value that looks like a schema', withProperties({ a: { type: 'object', const: asking('') } })],
])('a schema may ask for %s', (_, schema) => {
  expect(headerProblem(schema)).toBeUndefined();
});

it.each([
  ['an empty name', withProperties({ a: asking('') }), '"" is no name of a header'],
  ['a name that is no text', withProperties({ a: asking(5) }), '5 is no name of a header'],
  ['a name with a space', withProperties({ a: asking('My Region') }), 'is no name of a header'],
  ['a name with a line break', withProperties({ a: asking('A\r\nX: y') }), 'is no name of a header'],
  ['a name with a letter beyond ASCII', withProperties({ a: asking('Région') }), 'is no name of a header'],
  ['an object', withProperties({ a: asking('A', 'object') }), '"A" is asked for a value of type "object"'],
  ['a number', withProperties({ a: asking('A', 'number') }), '"A" is asked for a value of type "number"'],
  ['a value of no type', withProperties({ a: { 'x-mcp-header': 'A' } }), 'of type none'],
  [
    'the same name twice in any case',
    withProperties({ a: asking('Region'), b: asking('REGION') }),
    '"REGION" is asked for twice',
  ],
  ['the whole', { type: 'object', 'x-mcp-header': 'A' }, 'all arguments together'],
  ['members of a list', withProperties({ a: { type: 'array', items: asking('A') } }), 'where the argument may not be'],
  [
    'one of several forms',
    withProperties({}, { anyOf: [withProperties({ a: asking('A') })] }),
    'where the argument may not be',
  ],
  ['a definition', withProperties({}, { $defs: { a: asking('A') } }), 'where the argument may not be'],
])('a schema may not ask for %s', (_, schema, problem) => {
  expect(headerProblem(schema)).toContain(problem);
});
