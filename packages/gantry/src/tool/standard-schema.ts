import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { ArgumentCheck } from './executor.ts';
import type { JsonSchema } from './registration.ts';

/** A schema that validates and can say itself as JSON Schema: zod 4, ArkType, Valibot with its JSON Schema adapter … */
export type InputSchema<Output = unknown> = StandardSchemaV1<unknown, Output> & StandardJSONSchemaV1<unknown, Output>;

/** What a schema gives after validation. */
export type OutputOf<Schema> = Schema extends StandardSchemaV1<infer _Input, infer Output> ? Output : never;

/**
 * The JSON Schema of what a caller has to write for this schema (its input side).
 * @throws {GantryError} `invalid_registration` when the schema cannot be said in JSON Schema.
 */
export const toJsonSchema = (
  schema: StandardJSONSchemaV1,
  subject: string,
  side: 'input' | 'output' = 'input',
): JsonSchema => {
  try {
    const { $schema: _dialect, ...rest } = schema['~standard'].jsonSchema[side]({ target: 'draft-2020-12' });
    return rest as JsonSchema;
  } catch (error) {
    throw new GantryError(
      'invalid_registration',
      `${subject}: its ${side} schema cannot be written as JSON Schema: ${String(error)}`,
      {
        cause: error,
      },
    );
  }
};

/** Validates with the schema itself; the value that comes out may hold defaults and transforms. */
export const checkWithSchema = (
  schema: StandardSchemaV1,
  value: JsonObject,
): ArgumentCheck | Promise<ArgumentCheck> => {
  const result = schema['~standard'].validate(value);
  return result instanceof Promise ? result.then(toCheck) : toCheck(result);
};

const toCheck = (result: StandardSchemaV1.Result<unknown>): ArgumentCheck =>
  result.issues === undefined
    ? { ok: true, value: result.value as JsonObject }
    : { ok: false, faults: result.issues.map((issue) => ({ path: toPath(issue.path), problem: issue.message })) };

const toPath = (path: StandardSchemaV1.Issue['path']): string => {
  let text = '';
  for (const step of path ?? []) {
    const key = typeof step === 'object' ? step.key : step;
    text += typeof key === 'number' ? `[${key}]` : text === '' ? String(key) : `.${String(key)}`;
  }
  return text;
};
