import { isObject } from '../kernel/json.ts';
import type { Schema } from './subschemas.ts';

/**
 * True when checking a value against the schema may take time out of proportion to the value: a pattern that may search back
 * over itself, or references that combine with other rules, so that each level of the value multiplies the work.
 */
export const isHazardous = (schema: Schema): boolean => {
  let refs = false;
  let combines = false;
  let slowPattern = false;
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isObject(value)) return;
    for (const [key, member] of Object.entries(value)) {
      if (key === '$ref' || key === '$dynamicRef') {
        refs = true;
        combines ||= Object.keys(value).some((other) => applicators.has(other));
      }
      if (combinators.has(key)) combines = true;
      if (key === 'pattern' && typeof member === 'string') slowPattern ||= !isPlainPattern(member);
      if (key === 'patternProperties' && isObject(member)) slowPattern ||= !Object.keys(member).every(isPlainPattern);
      visit(member);
    }
  };
  visit(schema);
  return slowPattern || (refs && combines);
};

const combinators: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'dependentSchemas',
  'if',
  'not',
  'oneOf',
  'patternProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const applicators: ReadonlySet<string> = new Set(['additionalProperties', 'items', 'prefixItems', 'properties']);

/**
 * True when a pattern surely takes linear time: anchored at the start, without groups, and at most one part may vary in length. Only these are
 * run without a time limit; whether another pattern is harmful cannot be told reliably.
 */
export const isPlainPattern = (pattern: string): boolean => {
  const bare = pattern.replaceAll(/\\./gs, 'x').replaceAll(/\[[^\]]*\]/g, 'x');
  if (/[()]/.test(bare)) return false;
  const varying = bare.match(/[*+?]|\{\d+,\d*\}/g)?.length ?? 0;
  return varying === 0 || (varying === 1 && bare.startsWith('^') && !bare.includes('|'));
};
