import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { otherCaseOf } from '../../wire/other-case.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import { unreadable } from './unreadable.ts';

type Members = Readonly<Record<string, unknown>>;

/** The questions in a result or notice, sorted. */
export interface SortedQuestions {
  /** Those that the client may hear of. */
  readonly open: Members;
  /** Gantry's own answers to the others, by their keys. */
  readonly responses: JsonObject;
}

/**
 * Sorts the questions that a round, a task or a notice of one carries (`inputRequests`); undefined where nobody needs to decline any.
 * @throws {GantryError} `execution_failed` for what cannot be read.
 */
export const sortQuestions = (
  target: Pick<PassTarget, 'name' | 'isDeclined'>,
  carrier: Members,
): SortedQuestions | undefined => {
  if (carrierInOtherCase(carrier) !== undefined) throw unreadable(target.name);
  const requests = carrier['inputRequests'];
  if (requests === undefined || requests === null) return undefined;
  if (!isObject(requests)) throw unreadable(target.name);
  const entries = Object.entries(requests);
  const declined = entries.filter(([, request]) => isDeclined(target, request));
  if (declined.length === 0) return undefined;
  return {
    open: Object.fromEntries(entries.filter((entry) => !declined.includes(entry))),
    responses: Object.fromEntries(declined.map(([key]) => [key, { action: 'decline' }])),
  };
};

/** A task with what is left of its questions; one that asks nothing else is at work, as far as its client is concerned. */
export const withOpenQuestions = (task: Members, { open }: Pick<SortedQuestions, 'open'>): Members => {
  const { inputRequests: _asked, ...rest } = task;
  return Object.keys(open).length > 0
    ? { ...rest, inputRequests: open }
    : { ...rest, ...('status' in rest && { status: 'working' }) };
};

const isDeclined = (target: Pick<PassTarget, 'isDeclined'>, request: unknown): boolean => {
  if (!isObject(request)) return false;
  if (requestInOtherCase(request) !== undefined) return true;
  return request['method'] === 'elicitation/create' && target.isDeclined(request['params']);
};

const carrierInOtherCase = otherCaseOf(['inputRequests', 'task']);
const requestInOtherCase = otherCaseOf(['method', 'params']);
