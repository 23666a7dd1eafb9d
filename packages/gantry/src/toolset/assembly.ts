import type { CallContext } from '../tool/context.ts';
import type { ToolRegistration } from '../tool/registration.ts';

/**
 * Fits a tool to the turn through its own hook: without a hook the very same object, with null the tool is hidden. A
 * variant changes what the model reads (texts, schemas, annotations) and requires only arguments that it still has; what the tool is,
 * whom it is for and where it runs stay those of the original.
 */
export const assembleTool = (registration: ToolRegistration, context: CallContext): ToolRegistration | undefined => {
  if (!registration.assemble) return registration;
  const variant = registration.assemble(context);
  if (variant === null) return undefined;
  if (variant === registration) return registration;
  const { description, outputSchema, annotations, title } = variant;
  const inputSchema = withoutLostKeys(variant.inputSchema);
  return oneOf(registration, { description, inputSchema, outputSchema, annotations, title });
};

type Variant = Pick<ToolRegistration, 'description' | 'inputSchema' | 'outputSchema' | 'annotations' | 'title'>;

// Hooks make a new object each time. Who has seen an equal one before (to fit it to a provider, to tell whether a list has changed) knows it again.
const known = new WeakMap<ToolRegistration, Map<string, ToolRegistration>>();
const mostKnown = 16;

const oneOf = (registration: ToolRegistration, variant: Variant): ToolRegistration => {
  const key = JSON.stringify(variant);
  const variants = known.get(registration) ?? new Map<string, ToolRegistration>();
  known.set(registration, variants);
  const found = variants.get(key);
  if (found) return found;
  const made: ToolRegistration = Object.freeze({ ...registration, ...variant });
  if (variants.size >= mostKnown) variants.clear();
  variants.set(key, made);
  return made;
};

const withoutLostKeys = (schema: ToolRegistration['inputSchema']): ToolRegistration['inputSchema'] => {
  const { required, properties } = schema;
  if (!Array.isArray(required)) return schema;
  const kept = required.filter((key) => Object.hasOwn((properties ?? {}) as object, String(key)));
  return kept.length === required.length ? schema : { ...schema, required: kept };
};
