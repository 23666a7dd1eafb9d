import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import { sortQuestions, withOpenQuestions } from './sort-questions.ts';

/** What a server says of a task, as its client may hear it. */
export interface JudgedTask {
  readonly carrier: JsonObject;
  /** Gantry's own answers, by the task that asked; they are to be told to the server. */
  readonly declined: readonly { readonly taskId: string; readonly responses: JsonObject }[];
}

/**
 * Takes the questions of a task that nobody may answer out of a result or a notice. A result that is about no task is `isRound`: its own
 * questions stay, and are answered in the next round. `taskId` is that of the task that was asked about.
 * @throws {GantryError} `execution_failed` for what cannot be read.
 */
export const withoutTaskQuestions = (
  target: Pick<PassTarget, 'name' | 'isDeclined'>,
  carrier: JsonObject,
  about: { readonly isRound: boolean; readonly taskId?: string | undefined },
): JudgedTask => {
  const declined: JudgedTask['declined'][number][] = [];
  const judge = (one: JsonObject, taskId: string | undefined): JsonObject => {
    const sorted = sortQuestions(target, one);
    if (!sorted) return one;
    if (taskId !== undefined) declined.push({ taskId, responses: sorted.responses });
    return withOpenQuestions(one, sorted) as JsonObject;
  };
  const taskId = taskIdIn(carrier) ?? about.taskId;
  const { task } = carrier;
  const inner = isObject(task) ? judge(task, taskIdIn(task) ?? taskId) : task;
  const outer = inner === task ? carrier : { ...carrier, task: inner };
  return { carrier: about.isRound && taskId === undefined ? outer : judge(outer, taskId), declined };
};

const taskIdIn = ({ taskId }: JsonObject): string | undefined => (typeof taskId === 'string' ? taskId : undefined);
