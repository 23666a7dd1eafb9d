import { isObject } from '../../../kernel/json.ts';
import { describeFaults } from '../../../schema/faults.ts';
import { schemaProblem } from '../../../schema/schema-problem.ts';
import { createSchemaValidator } from '../../../schema/validate.ts';
import type { ArgGuardHandler } from './arg-guard.ts';
import { parseOptions, refuseOthers, wrongOptions } from './guard-options.ts';

/** Lets only arguments pass that meet a JSON Schema of the operator's, `schema`, beside the tool's own. */
export const jsonSchema: ArgGuardHandler = (given) => {
  const options = parseOptions(given);
  refuseOthers(options, ['schema']);
  const { schema } = options;
  const problem = schemaProblem(schema);
  if (problem !== undefined || !isObject(schema)) throw wrongOptions(`${problem ?? 'there is no schema'}.`);
  // A rule that says nothing was surely meant to say something.
  if (Object.keys(schema).length === 0) throw wrongOptions('"schema" is empty and would let everything pass.');
  const validator = createSchemaValidator();
  const unusable = validator.validate(schema, {}).find((fault) => fault.kind === 'schema');
  if (unusable) throw wrongOptions(`"schema" ${unusable.problem}.`);

  return async ({ args }) => {
    const faults = validator.validate(schema, args);
    return faults.length === 0
      ? undefined
      : `The operator's rule for the arguments is not met. ${describeFaults(faults, { schema })}`;
  };
};
