import { delay } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { Pod, PodApi } from './pod-api.ts';
import type { PodSettings } from './pod-manifest.ts';
import { isOwnPod, podSelector } from './pod-manifest.ts';

interface RemoveDeps {
  readonly clock: Clock;
  readonly log: Log;
}

const tries = 4;
const betweenMs = 500;

/** Deletes a pod. It is tried again a few times; one that withstands is logged, and found by the next sweep. */
export const removePod = async (api: PodApi, name: string, { clock, log }: RemoveDeps): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await api.remove(name);
      return;
    } catch (error) {
      const isHopeless = GantryError.is(error) && error.retry === 'never';
      if (isHopeless || attempt === tries) {
        log.error({ pod: name, reason: messageOf(error) }, 'the pod of a script could not be deleted');
        return;
      }
      await delay(clock, betweenMs * attempt);
    }
  }
};

// Past its deadline a pod has ended, and its manager has had the time to read and delete it.
const afterDeadlineMs = 5 * 60_000;

/**
 * Deletes the pods that nobody waits for any more: those of this manager, which has only just started, and those of other managers
 * that are long past their deadline. Failures are logged.
 */
export const sweepPods = async (api: PodApi, settings: PodSettings, deps: RemoveDeps): Promise<void> => {
  const { clock, log } = deps;
  try {
    const pods = await api.list(podSelector(settings));
    const orphans = pods.filter((pod) => isOwnPod(pod.metadata.labels, settings) || isForgotten(pod, clock.nowMs()));
    if (orphans.length > 0)
      log.info({ pods: orphans.map(({ metadata }) => metadata.name) }, 'pods that nobody waits for are deleted');
    await Promise.all(orphans.map(({ metadata }) => removePod(api, metadata.name, deps)));
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'pods that were left behind could not be looked for');
  }
};

const isForgotten = ({ metadata, spec }: Pod, nowMs: number): boolean => {
  const { creationTimestamp: created } = metadata;
  if (!created || spec.activeDeadlineSeconds === undefined) return false;
  return nowMs > created.getTime() + spec.activeDeadlineSeconds * 1000 + afterDeadlineMs;
};
