import { messageOf } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isObject } from '../../kernel/json.ts';
import { describeFaults } from '../../schema/faults.ts';
import type { Fault } from '../../schema/faults.ts';
import type { SchemaValidator } from '../../schema/validate.ts';
import { cutText } from '../../text/cut.ts';
import { parseArguments } from '../../text/parse-arguments.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import type { WispPorts } from './wisp-ports.ts';

/** Parameters that the tool takes, or what is wrong with them. */
export type FittedParams =
  | { readonly ok: true; readonly params: JsonObject }
  | { readonly ok: false; readonly problem: string };

const schemaChars = 6_000;
const paramsChars = 4_000;
const system =
  "You correct the parameters of a tool call so that they fit the tool's schema. Answer with the corrected JSON object and nothing else. Rename and move what is there; never make up a value that the call does not give.";

/**
 * Makes parameters fit before a call goes to a server: one that is missing or unknown costs a whole pipeline. First values that are known
 * by themselves, then one question to a small model, then the schema decides. What is of the wrong type is left to the call itself.
 */
export const createFitParams = (
  { providers, model, log }: Pick<WispPorts, 'providers' | 'model' | 'log'>,
  validator: SchemaValidator,
): ((
  registration: ToolRegistration,
  params: JsonObject,
  run: { readonly namespace: string; readonly signal: AbortSignal },
) => Promise<FittedParams>) => {
  const faultsOf = (schema: JsonObject, params: JsonObject): readonly Fault[] =>
    validator.validate(schema, params).filter(({ kind }) => kind === 'missing' || kind === 'unknown');

  return async (registration, params, { namespace, signal }) => {
    const { inputSchema, target } = registration;
    let given = params;
    for (const { kind, path } of faultsOf(inputSchema, given)) {
      if (kind !== 'missing' || path.includes('.')) continue;
      for (const provide of providers) {
        const { server, tool } = target ?? { server: '', tool: registration.name };
        const value = await provide({ server, tool, field: path, schema: inputSchema });
        if (value === undefined) continue;
        given = { ...given, [path]: value };
        break;
      }
    }
    const faults = faultsOf(inputSchema, given);
    if (faults.length === 0) return { ok: true, params: given };
    const problem = `The parameters do not fit tool "${registration.name}": ${describeFaults(faults, { schema: inputSchema })}`;
    try {
      const answer = await model.complete({
        tier: 'low',
        system,
        prompt: [
          `Tool: ${registration.name}\n${cutText(registration.description, 1_000)}`,
          `Schema: ${cutText(JSON.stringify(inputSchema), schemaChars)}`,
          `Parameters: ${cutText(JSON.stringify(given), paramsChars)}`,
          `Faults: ${describeFaults(faults, { schema: inputSchema })}`,
        ].join('\n\n'),
        namespace,
        signal,
      });
      const corrected = parseArguments(objectIn(answer));
      if (corrected.ok && isObject(corrected.value) && faultsOf(inputSchema, corrected.value).length === 0)
        return { ok: true, params: corrected.value };
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug({ tool: registration.name, reason: messageOf(error) }, 'the parameters of a step were not corrected');
    }
    return { ok: false, problem: `${problem}\nSchema: ${cutText(JSON.stringify(inputSchema), schemaChars)}` };
  };
};

/** What stands between the first and the last brace: small models put words around what they were asked for. */
const objectIn = (answer: string): string => {
  const [from, to] = [answer.indexOf('{'), answer.lastIndexOf('}')];
  return from !== -1 && to > from ? answer.slice(from, to + 1) : answer;
};
