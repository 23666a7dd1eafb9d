import { isObject, type JsonObject } from '../../kernel/json.ts';
import { toCanonical } from '../canonical.ts';
import { toDraft2020 } from '../draft2020.ts';
import { toSignature } from '../signature.ts';
import type { Schema } from '../subschemas.ts';
import { flattenObject } from './flatten-root.ts';
import { printGemini } from './gemini.ts';
import { printStrict } from './openai-strict.ts';
import { toPlain, withTakenKeys } from './plain.ts';
import type { Provider } from './provider.ts';
import type { Restore } from './shape.ts';
import { toShape } from './to-shape.ts';

/** A tool's own words about itself. */
export interface AdaptableTool {
  readonly description?: string | undefined;
  /** A usable JSON Schema (see `schemaProblem`); absent for a tool without parameters. */
  readonly inputSchema?: Schema | undefined;
}

/** A tool as one model provider takes it. */
export interface AdaptedTool {
  readonly description: string;
  /** Canonical: the same tool gives the same bytes, whatever the order of its keys. */
  readonly inputSchema: JsonObject;
  /** True when the schema is in OpenAI's strict form; a tool that strict cannot express is sent without it. */
  readonly strict: boolean;
  /** Gives the arguments for the tool from the arguments that the model sent; the same object when they are the same. */
  restore(args: JsonObject): JsonObject;
}

/**
 * Fits a tool to what a model provider accepts. What the provider's dialect cannot say is left out or said in words in the description: the
 * tool's own schema stays the one that arguments are validated against, after `restore`.
 */
export const adaptTool = (tool: AdaptableTool, provider: Provider): AdaptedTool => {
  // Canonical before anything is derived from the order of keys, such as the required list of the strict form.
  const original = toCanonical(toDraft2020(tool.inputSchema ?? { type: 'object' }));
  const description = tool.description ?? '';
  if (provider === 'generic') return adapted(description, { type: 'object', properties: {}, ...original });
  const { schema, alternatives } = hasRootRules(original)
    ? flattenObject(original, original)
    : { schema: { ...original, type: 'object' }, alternatives: [] };
  const told = alternatives.length < 2 ? description : `${description}\n\n${inWords(alternatives, original)}`.trim();
  const rooted: Schema = { properties: {}, ...schema };
  if (provider === 'gemini') {
    const { schema: printed, restore } = printGemini(toShape(rooted));
    return adapted(told, { properties: {}, ...printed }, { restore });
  }
  if (provider === 'openai-strict') {
    const shape = toShape(rooted);
    const printed = printStrict(
      shape.kind === 'object' && shape.members.length === 0 ? { ...shape, isOpen: false } : shape,
    );
    if (printed) return adapted(told, printed.schema, { restore: printed.restore, strict: true });
  }
  const plain = toPlain(withoutRootLimits(rooted));
  if (provider !== 'anthropic') return adapted(told, plain);
  const taken = withTakenKeys(plain);
  return adapted(told, taken.schema, { restore: taken.restore });
};

const adapted = (
  description: string,
  schema: Schema,
  options: { restore?: Restore | undefined; strict?: boolean | undefined } = {},
): AdaptedTool => ({
  description,
  inputSchema: toCanonical(schema) as JsonObject,
  strict: options.strict ?? false,
  restore: (args) => {
    const restored = options.restore?.(args) ?? args;
    return isObject(restored) ? (restored as JsonObject) : args;
  },
});

const hasRootRules = (schema: Schema): boolean =>
  ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => schema[keyword] !== undefined);

/** OpenAI refuses these at the root beside the alternatives that are merged already. */
const withoutRootLimits = ({ enum: _enum, not: _not, ...schema }: Schema): Schema => schema;

const inWords = (alternatives: readonly unknown[], root: Schema): string => {
  const forms = alternatives
    .slice(0, 6)
    .map((branch) =>
      toSignature(isObject(branch) ? { ...pickDefinitions(root), ...branch } : branch, { maxChars: 160 }),
    );
  const more = alternatives.length > forms.length ? ` or ${alternatives.length - forms.length} more forms` : '';
  return `The arguments take one of these forms: ${forms.join(' or ')}${more}.`;
};

const pickDefinitions = (root: Schema): Schema =>
  Object.fromEntries(['$defs', 'definitions'].filter((key) => root[key] !== undefined).map((key) => [key, root[key]]));
