import { isObject } from '../kernel/json.ts';
import type { ContextItem, ContextMedia, Outcome, Part } from './outcome.ts';
import { failedOutcome } from './outcome.ts';

/**
 * What an executor gave back, when it has the shape of an outcome; else a failed one that says what it lacks: whoever reads it relies on the
 * shape, and code without types gives back anything. A part that is none becomes a text that says so. A context item is taken over member by
 * member, because whatever else it holds, such as bytes, would be kept on record.
 */
export const toCheckedOutcome = (given: unknown): Outcome => {
  if (!isOutcome(given)) return failedOutcome('execution_failed', noOutcomeText);
  switch (given.status) {
    case 'done': {
      const { contextItem } = given;
      const outcome = withParts(given);
      if (contextItem === undefined) return outcome;
      const item = toContextItem(contextItem);
      return item ? { ...outcome, contextItem: item } : failedOutcome('execution_failed', noItemText);
    }
    case 'failed': {
      const { failure } = given;
      const reported = failure.reported && withParts(failure.reported);
      return reported === failure.reported ? given : { ...given, failure: { ...failure, reported } };
    }
    case 'parked':
      return withParts(given);
  }
};

/** Whether a value has the shape of an outcome, whatever its parts are. */
export const isOutcome = (value: unknown): value is Outcome => {
  if (!isObject(value)) return false;
  const { status, parts, failure, handle } = value;
  switch (status) {
    case 'done':
      return Array.isArray(parts);
    case 'failed':
      return isObject(failure) && typeof failure['message'] === 'string' && isReport(failure['reported']);
    case 'parked':
      return (
        isObject(handle) &&
        ['kind', 'id', 'expiresAt'].every((key) => typeof handle[key] === 'string') &&
        Array.isArray(parts)
      );
    default:
      return false;
  }
};

const isReport = (report: unknown): boolean =>
  report === undefined || (isObject(report) && Array.isArray((report as { parts?: unknown }).parts));

const withParts = <Report extends { readonly parts: readonly Part[] }>(report: Report): Report =>
  report.parts.every(isPart)
    ? report
    : { ...report, parts: report.parts.map((part) => (isPart(part) ? part : noPart)) };

/** What is read of the parts that are known; others keep their form. */
const isPart = (part: unknown): boolean => {
  if (!isObject(part)) return false;
  const { type, text, data, mimeType, uri, name, resource } = part;
  switch (type) {
    case 'text':
      return typeof text === 'string';
    case 'image':
    case 'audio':
      return typeof data === 'string' && typeof mimeType === 'string';
    case 'resource_link':
      return typeof uri === 'string' && typeof name === 'string';
    case 'resource':
      return isObject(resource);
    default:
      return typeof type === 'string';
  }
};

const noPart: Part = { type: 'text', text: '(a part of the result is no content block)' };

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
