import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Clock } from '../../../../kernel/clock.ts';
import { newId } from '../../../../kernel/ids.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { isObject, parseJson } from '../../../../kernel/json.ts';
import type { KeyValue } from '../../../../store/key-value.ts';
import { crowdedOut } from '../../crowd.ts';
import { maxLetterChars } from '../../mail/mailbox.ts';
import type { Sealing } from '../../pass/carried-state.ts';
import type { Visit } from '../relayed.ts';
import { unknownTask } from './task-forms.ts';

/**
 * Results that a client of 2025 wanted as tasks and a server of 2026 gave at once. Every process on the same store finds them; they are
 * encrypted there.
 */
export interface KeptResults {
  /**
   * Keeps a result for as long as its client wishes, at most an hour; gives the task that it is the end of, in the words of 2026. Where there
   * is no room, the oldest of this process makes it.
   * @throws {ProtocolError} where it is too large.
   */
  keep(visit: Visit, result: JsonObject, ttlMs: unknown): Promise<JsonObject & { readonly taskId: string }>;
  /** Whether an id is of such a task. */
  isKept(taskId: string): boolean;
  /** @throws {ProtocolError} invalid params where there is none of this client and server, or no more. */
  get(visit: Visit, taskId: string): Promise<JsonObject>;
}

const prefix = 'gantry.done.';
const longestMs = 60 * 60_000;
const sweepEvery = 100;
// A client may well call without ever fetching, and one result has some megabytes.
const limits = { inAll: 500, ofClient: 50 };

/** Makes it. */
export const createKeptResults = (options: {
  readonly results: KeyValue<string>;
  readonly sealing: Sealing;
  readonly clock: Clock;
}): KeptResults => {
  const { results, sealing, clock } = options;
  let kept = 0;
  // Those of this process, the oldest first. What an earlier process has kept ends within the hour.
  const own = new Map<string, { readonly client: string | undefined; readonly endsAtMs: number }>();

  const makeRoom = async (client: string | undefined): Promise<void> => {
    const now = clock.elapsedMs();
    const gone = own
      .entries()
      .filter(([, { endsAtMs }]) => endsAtMs <= now)
      .map(([taskId]) => taskId)
      .toArray();
    for (const taskId of gone) own.delete(taskId);
    const oldest = crowdedOut(own, (one) => one.client, client, limits);
    if (oldest !== undefined && own.delete(oldest)) gone.push(oldest);
    for (const taskId of gone) await results.delete(taskId);
  };

  return {
    keep: async (visit, result, ttlMs) => {
      const taskId = `${prefix}${newId()}`;
      const keptMs = typeof ttlMs === 'number' && ttlMs > 0 ? Math.min(ttlMs, longestMs) : longestMs;
      const now = new Date(clock.nowMs()).toISOString();
      const task = { taskId, status: 'completed', createdAt: now, lastUpdatedAt: now, ttlMs: keptMs, result };
      const text = JSON.stringify(task);
      if (text.length > maxLetterChars)
        throw new ProtocolError(
          ProtocolErrorCode.InternalError,
          `The call was carried out, but its result has more than ${maxLetterChars} characters, which is more than is kept for a task. Call without a task.`,
        );
      await makeRoom(visit.client);
      own.set(taskId, { client: visit.client, endsAtMs: clock.elapsedMs() + keptMs });
      await results.set(taskId, sealing.seal(text, contextOf(visit, taskId)), { ttlMs: keptMs });
      if ((kept += 1) % sweepEvery === 0) await results.sweep();
      return task;
    },
    isKept: (taskId) => taskId.startsWith(prefix),
    get: async (visit, taskId) => {
      const found = await results.get(taskId);
      const parsed = found && parseJson(opened(sealing, found.value, contextOf(visit, taskId)));
      if (!parsed?.ok || !isObject(parsed.value)) throw unknownTask();
      return parsed.value as JsonObject;
    },
  };
};

/** What is another client's does not open. */
const opened = (sealing: Sealing, sealed: string, context: string): string => {
  try {
    return sealing.open(sealed, context);
  } catch {
    return '';
  }
};

const contextOf = ({ target, client }: Visit, taskId: string): string =>
  `task/${target.name}/${client ?? ''}/${taskId}`;
