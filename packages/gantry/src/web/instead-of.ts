import type { CallableTools } from '../tool/callable-tools.ts';
import type { CallContext } from '../tool/context.ts';

/** What a caller who has no tool of that name is to use in its place, as a sentence; undefined while he has it. */
export type InsteadOf = (name: string, context: CallContext) => string | undefined;

/** Reads it from what callers may run. */
export const createInsteadOf =
  (callable: Pick<CallableTools, 'find' | 'missing'>): InsteadOf =>
  (name, context) =>
    callable.find(name, context) ? undefined : (callable.missing(name, context)?.text ?? `You have no "${name}".`);
