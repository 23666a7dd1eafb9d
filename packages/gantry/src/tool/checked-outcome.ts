import { isObject } from '../kernel/json.ts';
import type { ContextItem, ContextMedia, Outcome } from './outcome.ts';
import { failedOutcome } from './outcome.ts';

/**
 * What an executor gave back, when it has the shape of an outcome; else a failed one that says what it lacks: whoever reads it relies on the
 * shape, and code without types gives back anything. A context item is taken over member by member, because whatever else it holds, such as
 * bytes, would be kept on record.
 */
export const toCheckedOutcome = (given: unknown): Outcome => {
  if (!isOutcome(given)) return failedOutcome('execution_failed', noOutcomeText);
  if (given.status !== 'done') return given;
  const { contextItem } = given;
  if (contextItem === undefined) return given;
  const item = toContextItem(contextItem);
  return item ? { ...given, contextItem: item } : failedOutcome('execution_failed', noItemText);
};

/** Whether a value has the shape of an outcome. */
export const isOutcome = (value: unknown): value is Outcome => {
  if (!isObject(value)) return false;
  const { status, parts, failure, handle } = value;
  switch (status) {
    case 'done':
      return isParts(parts);
    case 'failed':
      return isObject(failure) && typeof failure['message'] === 'string' && isReport(failure['reported']);
    case 'parked':
      return isObject(handle) && isParts(parts);
    default:
      return false;
  }
};

const isParts = (parts: unknown): boolean => Array.isArray(parts) && parts.every(isObject);

const isReport = (report: unknown): boolean =>
  report === undefined || (isObject(report) && isParts((report as Record<string, unknown>)['parts']));

const toContextItem = (value: unknown): ContextItem | undefined => {
  if (!isObject(value)) return undefined;
  const { text, media } = value;
  if (typeof text !== 'string' || !Array.isArray(media)) return undefined;
  const taken = media.map(toContextMedia);
  return taken.every((one) => one !== undefined) ? { text, media: taken } : undefined;
};

const toContextMedia = (value: unknown): ContextMedia | undefined => {
  if (!isObject(value)) return undefined;
  const { mediaType, path, stashKey } = value;
  if (typeof mediaType !== 'string') return undefined;
  if (typeof path === 'string') return { mediaType, path };
  return typeof stashKey === 'string' ? { mediaType, stashKey } : undefined;
};

const noOutcomeText =
  'The tool ran, but what it gave back is no outcome: that is "done" with parts, "failed" with a failure and its message, or "parked" with a handle and parts.';
const noItemText =
  'The tool ran, but its result cannot be passed on: it holds a context item without text, or with media that name no type and no path or stashKey.';
