import { delay, orAborted } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { PodVerdict } from './judge-pod.ts';
import { judgePod } from './judge-pod.ts';
import type { PodApi } from './pod-api.ts';

const pollMs = 1000;
const patientReads = 5;

/** How a pod is followed. */
export interface FollowOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Told why the pod does not run yet. */
  readonly onWait?: ((reason: string | undefined) => void) | undefined;
}

/**
 * Waits until a pod has ended, or is found never to run. It is looked at every second; a watch on it makes that sooner, and may
 * break off as often as it likes.
 * @throws {GantryError} the signal's reason; `execution_failed` when somebody else has deleted the pod; what the API rejects with
 * when it fails several times in a row, or for a reason that does not pass.
 */
export const followPod = async (
  api: PodApi,
  name: string,
  options: FollowOptions,
): Promise<Exclude<PodVerdict, { state: 'open' }>> => {
  const { clock, log, signal } = options;
  const over = new AbortController();
  const ending = AbortSignal.any([signal, over.signal]);
  let changed = Promise.withResolvers<void>();
  const watchOn = async (): Promise<void> => {
    while (!ending.aborted) {
      await api
        .watch(name, () => changed.resolve(), ending)
        .catch((error: unknown) => log.debug({ pod: name, reason: messageOf(error) }, 'the watch of a pod broke off'));
      if (!ending.aborted) await delay(clock, pollMs, ending).catch(() => {});
    }
  };
  const watching = watchOn();
  try {
    for (let failures = 0; ;) {
      changed = Promise.withResolvers();
      try {
        const pod = await orAborted(api.read(name), signal);
        failures = 0;
        if (!pod) throw gone(name);
        const verdict = judgePod(pod);
        if (verdict.state !== 'open') return verdict;
        options.onWait?.(verdict.reason);
      } catch (error) {
        failures += 1;
        if (signal.aborted || !isPassing(error) || failures >= patientReads) throw error;
      }
      await Promise.race([changed.promise, delay(clock, pollMs, signal)]);
    }
  } finally {
    over.abort();
    await watching;
  }
};

const isPassing = (error: unknown): boolean => GantryError.is(error) && error.retry !== 'never';

const gone = (name: string): GantryError =>
  new GantryError('execution_failed', `The pod "${name}" was deleted before its script had ended; run it again.`);
