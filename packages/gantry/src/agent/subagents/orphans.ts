import type { Clock, Timer } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { Documents, StoredDocument } from '../../store/documents.ts';
import type { Lease, Leases } from '../../store/leases.ts';
import type { ResultDelivery } from './result-delivery.ts';
import type { SubagentRecord, SubagentResult } from './subagent-record.ts';

/**
 * Subagents whose process is gone. A process holds a lease while it runs subagents; when it is free, nobody runs its subagents any more,
 * and whoever finds that tells their conversations.
 */
export interface Orphans extends AsyncDisposable {
  /** Takes this process's lease, and keeps it until it is released. */
  hold(): Promise<void>;
  /** Gives the lease back: nothing runs here. */
  release(): Promise<void>;
  /** Tells of what is found now, and looks again while other processes may still die. */
  tell(): Promise<void>;
}

const leaseMs = 30_000;
const renewEveryMs = 10_000;
const keptForMs = 7 * 24 * 3_600_000;

/** What a conversation is told of a subagent that ended with its process. */
export const interruptedResult: SubagentResult = {
  isSuccess: false,
  text: '',
  error: 'Gantry ended before it had finished; start it again if its result is still wanted',
  toolCallCount: 0,
  isExpected: true,
  keys: [],
};

/** Makes the watch of a process. */
export const createOrphans = (options: {
  readonly documents: Documents<SubagentRecord>;
  readonly leases: Leases;
  /** Id of this process. */
  readonly owner: string;
  readonly delivery: ResultDelivery;
  readonly clock: Clock;
  readonly log: Log;
}): Orphans => {
  const { documents, leases, owner, delivery, clock, log } = options;
  const nameOf = (holder: string): string => `subagents/${holder}`;
  let lease: Promise<Lease | undefined> | undefined;
  let renewing: Timer | undefined;
  let looking: Timer | undefined;

  const renew = async (): Promise<void> => {
    const current = lease;
    const held = await current;
    if (!held) return;
    try {
      const renewed = await leases.renew(held, leaseMs);
      // It may have been given back meanwhile.
      if (lease !== current) return;
      if (renewed) lease = Promise.resolve(renewed);
      else log.warn({}, 'the lease of the subagents was lost; another process may call them interrupted');
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the lease of the subagents could not be renewed');
    }
    if (lease) renewing = clock.startTimer(renewEveryMs, () => void renew());
  };

  const isAlive = async (holder: string): Promise<boolean> => {
    const taken = await leases.acquire(nameOf(holder), owner, 1_000);
    if (!taken) return true;
    await leases.release(taken);
    return false;
  };

  const settle = async ({ id, value, revision }: StoredDocument<SubagentRecord>): Promise<'told' | 'running'> => {
    if (await isAlive(value.owner)) return 'running';
    const result = value.result ?? interruptedResult;
    const record: SubagentRecord = { ...value, result, owner, consolidate: false };
    try {
      // Of several processes that find it, one tells of it.
      await documents.put(id, record, { ifRevision: revision });
    } catch (error) {
      if (GantryError.is(error) && error.code === 'revision_conflict') return 'told';
      throw error;
    }
    await delivery.deliver({ taskId: id, record, result });
    return 'told';
  };

  const tell = async (): Promise<void> => {
    looking?.stop();
    looking = undefined;
    let others = 0;
    for (const stored of await documents.list()) {
      const { id, value } = stored;
      if (value.isDelivered) {
        if (value.startedAtMs < clock.nowMs() - keptForMs) await documents.delete(id);
      } else if (value.owner !== owner && (await settle(stored)) === 'running') others += 1;
    }
    if (others > 0)
      looking = clock.startTimer(leaseMs, () => {
        tell().catch((error: unknown) =>
          log.warn({ reason: messageOf(error) }, 'subagents of other processes could not be looked at'),
        );
      });
  };

  const release = async (): Promise<void> => {
    renewing?.stop();
    renewing = undefined;
    // Taken before anything is awaited: who asks meanwhile gets a lease of its own.
    const taken = lease;
    lease = undefined;
    const held = await taken;
    if (held) await leases.release(held);
  };

  return {
    hold: async () => {
      lease ??= leases.acquire(nameOf(owner), owner, leaseMs);
      try {
        await lease;
      } catch (error) {
        lease = undefined;
        throw error;
      }
      renewing ??= clock.startTimer(renewEveryMs, () => void renew());
    },
    release,
    tell,
    [Symbol.asyncDispose]: async () => {
      looking?.stop();
      await release();
    },
  };
};
