import type { CallContext } from './context.ts';
import type { Tool } from './executor.ts';
import type { MissingHint } from './missing-hint.ts';
import type { ToolRegistration } from './registration.ts';

/** What callers are shown and may run, as those see it who make turns for a model. */
export interface CallableTools {
  /** What this caller is shown now, in a stable order. */
  for(context: CallContext): { readonly tools: readonly ToolRegistration[] };
  /** The tool this caller may run under that name now, shown or not. */
  find(name: string, context: CallContext): Tool | undefined;
  /** What a caller whose call names no tool can be told beside near names. */
  missing(name: string, context: CallContext): MissingHint | undefined;
  /** How this caller finds tools of servers beside those that he is shown, as a sentence; undefined where there are none for him. */
  howToFind(context: CallContext): string | undefined;
  /** Fetches what is stored about this caller elsewhere; to be awaited at the begin of a turn. */
  prepare(context: CallContext): Promise<void>;
}
