import type { CallContext } from '../tool/context.ts';
import type { ToolRegistration } from '../tool/registration.ts';

/**
 * Fits a tool to the turn through its own hook: without a hook the very same object, with null the tool is hidden. A
 * variant keeps the name, source and category of the original, and requires only arguments that it still has.
 */
export const assembleTool = (registration: ToolRegistration, context: CallContext): ToolRegistration | undefined => {
  if (!registration.assemble) return registration;
  const variant = registration.assemble(context);
  if (variant === null) return undefined;
  if (variant === registration) return registration;
  const { name, source, category } = registration;
  return Object.freeze({ ...variant, name, source, category, inputSchema: withoutLostKeys(variant.inputSchema) });
};

const withoutLostKeys = (schema: ToolRegistration['inputSchema']): ToolRegistration['inputSchema'] => {
  const { required, properties } = schema;
  if (!Array.isArray(required)) return schema;
  const kept = required.filter((key) => Object.hasOwn((properties ?? {}) as object, String(key)));
  return kept.length === required.length ? schema : { ...schema, required: kept };
};
