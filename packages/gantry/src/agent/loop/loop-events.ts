import type { JsonObject } from '../../kernel/json.ts';
import type { Progress, Tier } from '../../tool/context.ts';
import type { Handle, Outcome } from '../../tool/outcome.ts';

/** What happens in a turn, as it happens. */
export type LoopEvent =
  /** A piece of the answer. */
  | { readonly type: 'text'; readonly text: string }
  /** A piece of what a thinking model thinks. */
  | { readonly type: 'reasoning'; readonly text: string }
  /** The model is asked again: what was streamed since the last call of a tool is void. */
  | { readonly type: 'again'; readonly reason: string }
  /** The turn goes on with another model. */
  | { readonly type: 'model'; readonly tier: Tier; readonly model: string }
  /** The turn has made so many rounds of calls and goes on; comes once in a turn. */
  | { readonly type: 'still-working'; readonly iterations: number }
  | { readonly type: 'tool-start'; readonly id: string; readonly name: string; readonly arguments: JsonObject }
  | { readonly type: 'tool-progress'; readonly id: string; readonly name: string; readonly progress: Progress }
  | {
      readonly type: 'tool-end';
      readonly id: string;
      readonly name: string;
      readonly status: Outcome['status'];
      readonly durationMs: number;
      /** The first 2,000 characters of what the model got. */
      readonly result: string;
      /** What a parked call waits for. */
      readonly handle?: Handle | undefined;
    };

/** Hears what happens in a turn. Must not throw. */
export type OnLoopEvent = (event: LoopEvent) => void;
