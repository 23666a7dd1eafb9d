import type { JsonObject } from '../../kernel/json.ts';
import type { TurnCall, TurnStep } from '../../memory/conversation-turn.ts';
import { cutText } from '../../text/cut.ts';
import { scrubValue } from '../../text/scrub.ts';
import { shownLine } from './context-items.ts';
import { createLatestWrite } from './latest-write.ts';
import type { LoopDeps, LoopRun } from './loop-run.ts';
import type { CallsToRun, RanCall } from './run-calls.ts';
import { runCalls } from './run-calls.ts';

const resultChars = 4_000;

/** The calls of an answer, what it said beside them, and where they are put on record. */
export interface CallsToRecord extends Omit<CallsToRun, 'onRan'> {
  readonly text: string;
  /** The steps of the turn; this one is added. */
  readonly steps: TurnStep[];
  readonly onSteps: LoopRun['onSteps'];
}

/**
 * Runs the calls of one answer; each is on record before it runs, and with its result soon after that is there. Results that come together
 * are written together, because each write holds all of them. When this ends, all are written.
 * @throws {GantryError} as `runCalls`; what cannot be put on record.
 */
export const runRecordedCalls = async (
  deps: Pick<LoopDeps, 'invoker' | 'toolsets' | 'clock'>,
  { text, steps, onSteps, ...run }: CallsToRecord,
): Promise<readonly RanCall[]> => {
  const record = new Map<string, TurnCall>();
  for (const written of run.calls) {
    const { name, arguments: args } = run.tools.toCall(written);
    record.set(written.id, { id: written.id, name, arguments: recorded(args), status: 'running' });
  }
  const at = steps.length;
  const write = (): Promise<void> => {
    steps[at] = { text, calls: [...record.values()] };
    return onSteps?.(steps.slice()) ?? Promise.resolve();
  };
  await write();
  const results = createLatestWrite(write);
  try {
    return await runCalls(deps, {
      ...run,
      onRan: ({ id, name, arguments: args, status, text: result, item, durationMs }) => {
        record.set(id, {
          id,
          name,
          arguments: recorded(args),
          status,
          result: cutText(result, resultChars),
          ...(item && { shown: shownLine(item) }),
          durationMs,
        });
        results.request();
      },
    });
  } finally {
    await results.settled();
  }
};

/** Arguments as they are kept: secrets masked, and what could not be read left out. */
const recorded = (args: string | JsonObject | undefined): JsonObject =>
  typeof args === 'object' ? (scrubValue(args) as JsonObject) : {};
