import { createRequire } from 'node:module';
import type * as AjvModule from 'ajv/dist/2020.js';
import type { Ajv2020, Options, ValidateFunction } from 'ajv/dist/2020.js';
import type { FormatsPlugin } from 'ajv-formats';
import { messageOf } from '../kernel/errors.ts';
import { type BoundedRun, createBoundedRun } from './bounded-run.ts';
import { toDraft2020 } from './draft2020.ts';
import type { Fault } from './faults.ts';
import { isHazardous } from './hazards.ts';
import { schemaProblem } from './schema-problem.ts';
import type { Schema } from './subschemas.ts';
import { toFaults } from './to-faults.ts';

/** Checks values against JSON Schemas that strangers may have written. */
export interface SchemaValidator {
  /**
   * The faults of `value`, or an empty list: all of a usual value, the first of one with thousands of members. The schema is compiled when it is first used and kept as long as the object lives, so pass the
   * same object. A schema that cannot be used, or takes too long on this value, gives one fault of kind `schema`.
   */
  validate(schema: Schema, value: unknown): readonly Fault[];
}

type Check = (value: unknown) => readonly Fault[];

const noFaults: readonly Fault[] = [];
const compileTimeoutMs = 5_000;
const checkTimeoutMs = 250;
/** The compiled code copies the faults it has for each reference that adds some, so a value may not have too many. */
const mostMembersForAllFaults = 4_000;

/**
 * Makes a validator for JSON Schema 2020-12, draft 4 to 7 and OpenAPI 3.0 schemas. Formats are checked, unknown formats and keywords ignored,
 * patterns that are no JavaScript expression too. Nothing is fetched. Schemas that could multiply the work (see `isHazardous`) are
 * checked under a time limit of 250 ms per value; all others run without that cost.
 */
export const createSchemaValidator = (): SchemaValidator => {
  const run = createBoundedRun();
  const checkAll = createChecks(run, { allErrors: true });
  const checkFirst = createChecks(run, { allErrors: false });
  return {
    validate: (schema, value) => {
      const check = hasMoreMembers(value, mostMembersForAllFaults) ? checkFirst(schema) : checkAll(schema);
      try {
        return check(value);
      } catch (error) {
        // A value or a schema that nests without end overflows the stack; it is no reason to bring the caller down.
        return [{ path: '', problem: `cannot be checked: ${messageOf(error).slice(0, 200)}`, kind: 'schema' }];
      }
    },
  };
};

/** Whether lists and objects at all depths have more than `most` members together. */
const hasMoreMembers = (value: unknown, most: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  const open: object[] = [value];
  let count = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const members: unknown[] = Array.isArray(next) ? next : Object.values(next);
    count += members.length;
    if (count > most) return true;
    for (const member of members) if (typeof member === 'object' && member !== null) open.push(member);
  }
  return false;
};

/** Compiles schemas when they are first asked for, and keeps them. */
const createChecks = (run: BoundedRun, options: { readonly allErrors: boolean }): ((schema: Schema) => Check) => {
  const checks = new WeakMap<Schema, Check>();
  let ajv: Ajv2020 | undefined;

  const compile = (schema: Schema): Check => {
    const problem = schemaProblem(schema);
    if (problem !== undefined) return refuse(`cannot be checked: ${problem}`);
    const prepared = toDraft2020(schema);
    const compiler = (ajv ??= loadAjv(options.allErrors));
    let compiled: ValidateFunction | undefined;
    try {
      compiled = run(() => compiler.compile(prepared), compileTimeoutMs);
    } catch (error) {
      return refuse(`cannot be checked: the schema is unusable (${messageOf(error).slice(0, 200)})`);
    } finally {
      compiler.removeSchema(prepared);
    }
    if (!compiled) {
      // Compiling was stopped half way, which leaves the compiler in an unknown state.
      ajv = undefined;
      return refuse('cannot be checked: compiling the schema takes too long');
    }
    const check = compiled;
    const checkPlainly: Check = (value) => (check(value) ? noFaults : takeFaults(check, prepared));
    if (!isHazardous(prepared)) return checkPlainly;
    return (value) =>
      run(() => checkPlainly(value), checkTimeoutMs) ?? [
        { path: '', problem: 'cannot be checked: a rule of the schema takes too long on them', kind: 'schema' },
      ];
  };

  return (schema) => {
    let check = checks.get(schema);
    if (!check) {
      check = compile(schema);
      checks.set(schema, check);
    }
    return check;
  };
};

const refuse = (problem: string): Check => {
  const faults: readonly Fault[] = [{ path: '', problem, kind: 'schema' }];
  return () => faults;
};

/** The faults of the check that has just failed. The compiled function keeps its errors, and with them the value, until they are taken. */
const takeFaults = (check: ValidateFunction, schema: Schema): readonly Fault[] => {
  const faults = toFaults(check.errors ?? [], schema);
  check.errors = null;
  return faults;
};

/** Ajv takes some 60 ms to load: only the first validation pays for it. */
const loadAjv = (allErrors: boolean): Ajv2020 => {
  const load = createRequire(import.meta.url);
  const { Ajv2020 } = load('ajv/dist/2020.js') as typeof AjvModule;
  const { default: addFormats } = load('ajv-formats') as { default: FormatsPlugin };
  const ajv = new Ajv2020({
    strict: false,
    allErrors,
    verbose: true,
    // Properties may be named like members of every object: "constructor" is there only when the value has it itself.
    ownProperties: true,
    logger: false,
    meta: false,
    validateSchema: false,
    // Inlining multiplies the code of a definition by its uses.
    inlineRefs: false,
    code: { regExp: toPattern },
  });
  addFormats(ajv);
  return ajv;
};

type RegExpEngine = NonNullable<NonNullable<Options['code']>['regExp']>;

/** The pattern as Unicode-aware, else as plain expression; one that is neither (another language's dialect) lets everything pass. */
const toPattern: RegExpEngine = Object.assign(
  (pattern: string, flags: string): RegExp => tryPattern(pattern, flags) ?? tryPattern(pattern, '') ?? /(?:)/,
  { code: 'new RegExp' },
);

const tryPattern = (pattern: string, flags: string): RegExp | undefined => {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return undefined;
  }
};
