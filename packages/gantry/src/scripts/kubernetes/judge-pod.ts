import type { Pod } from './pod-api.ts';

/** What a look at a pod says. */
export type PodVerdict =
  /** It may still become something; `reason` is why it does not run yet. */
  | { readonly state: 'open'; readonly reason?: string | undefined }
  | { readonly state: 'ended'; readonly exitCode: number; readonly isOutOfMemory: boolean }
  /** It was ended at its deadline. */
  | { readonly state: 'late'; readonly reason?: string | undefined }
  /** It will never run, or was ended by the cluster. */
  | { readonly state: 'broken'; readonly reason: string };

/** Reasons to wait that do not pass by themselves. A first failed pull is tried again by the cluster. */
const hopeless = new Set([
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Reads from a pod whether its script has ended, and how. */
export const judgePod = ({ status }: Pod): PodVerdict => {
  const state = status.containerStatuses?.[0]?.state;
  // A pod past its deadline has failed, whether its container was still ended in time or not.
  if (status.reason === 'DeadlineExceeded') return { state: 'late', reason: waitReason(status) };
  if (state?.terminated) {
    const { exitCode, reason } = state.terminated;
    if (reason === 'StartError' || reason === 'ContainerCannotRun')
      return { state: 'broken', reason: words(reason, state.terminated.message) };
    return { state: 'ended', exitCode, isOutOfMemory: reason === 'OOMKilled' };
  }
  if (status.phase === 'Failed') return { state: 'broken', reason: words(status.reason ?? 'Failed', status.message) };
  if (status.phase === 'Succeeded') return { state: 'ended', exitCode: 0, isOutOfMemory: false };
  const waiting = state?.waiting;
  if (waiting?.reason !== undefined && hopeless.has(waiting.reason))
    return { state: 'broken', reason: words(waiting.reason, waiting.message) };
  return { state: 'open', reason: waitReason(status) };
};

const waitReason = ({ containerStatuses, conditions }: Pod['status']): string | undefined => {
  const waiting = containerStatuses?.[0]?.state?.waiting;
  if (waiting?.reason !== undefined) return words(waiting.reason, waiting.message);
  const scheduled = conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  return scheduled && words(scheduled.reason ?? 'not scheduled', scheduled.message);
};

const words = (reason: string, message: string | undefined): string =>
  message === undefined || message === '' ? reason : `${reason}: ${message.slice(0, 500)}`;
