import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import { nearest } from '../kernel/nearest.ts';
import type { AnyOperation, Operation } from './operation.ts';

/**
 * Checks the raw input of an operation.
 * @throws {GantryError} `invalid_arguments` that names each wrong path and what is allowed there.
 */
export const parseInput = <Input>(operation: Operation<Input, unknown>, raw: unknown): Input => {
  const parsed = operation.input.safeParse(raw);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap((issue) => faultsOf(issue, operation));
  throw new GantryError('invalid_arguments', withEnd(`${operation.name}: ${faults.map(inWords).join('; ')}`), {
    details: { faults },
  });
};

interface Fault {
  readonly path: string;
  readonly problem: string;
}

const faultsOf = (issue: z.core.$ZodIssue, operation: AnyOperation): Fault[] => {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path.join('.'), problem: issue.message }];
  const known = inputNames(operation);
  return issue.keys.map((key) => {
    const [near] = nearest(key, known);
    const names = known.length === 0 ? 'none is taken' : `known: ${known.join(', ')}`;
    return {
      path: [...issue.path, key].join('.'),
      problem: `there is no such input; ${near === undefined ? names : `did you mean "${near}"?`}`,
    };
  });
};

const withEnd = (text: string): string => (/[.?]$/.test(text) ? text : `${text}.`);

const inWords = ({ path, problem }: Fault): string => (path === '' ? problem : `${path}: ${problem}`);

/** The names of the inputs of an operation. */
const inputNames = (operation: AnyOperation): string[] =>
  Object.keys(z.toJSONSchema(operation.input, { io: 'input' }).properties ?? {});
