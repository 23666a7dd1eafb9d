/**
 * What policy changes about a message of a server: tools and prompts that are hidden are left out, and questions that nobody may answer are declined
 * in the client's place, which does not hear of them.
 */
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { otherCaseOf } from '../../wire/other-case.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { AskedIn } from './answer-upstream.ts';
import { declineRequest, updateTask } from './answer-upstream.ts';
import type { Sealing } from './carried-state.ts';
import { wrapState } from './carried-state.ts';
import { sortQuestions } from './sort-questions.ts';
import { withoutTaskQuestions } from './task-questions.ts';
import { messageInOtherCase } from './unclear-message.ts';
import { unreadable } from './unreadable.ts';

type Members = Readonly<Record<string, unknown>>;

/** Where a message was said, and what may be done about it. */
export interface Hearing extends AskedIn {
  readonly target: PassTarget;
  readonly context: string;
  readonly sealing: Sealing;
  /** Sends the request once more with answers to all that was asked, and gives the message that answers it. */
  readonly nextRound: (responses: Members, requestState: string | undefined) => Promise<unknown>;
}

/**
 * The message for the client: the very same one where nothing changes; undefined for one that the client does not get.
 * @throws {GantryError} `execution_failed` for what cannot be judged, or what asking again brings.
 */
export const judgeMessage = async (hearing: Hearing, message: unknown): Promise<unknown> => {
  const { target } = hearing;
  if (!isObject(message)) return message;
  if (messageInOtherCase(message) !== undefined) throw unreadable(target.name);
  const { method, params, result } = message;
  if (method === 'elicitation/create') {
    if (!target.isDeclined(params)) return message;
    await declineRequest(hearing, message['id']);
    return undefined;
  }
  const told = isObject(params) ? await withoutQuestionsOfTasks(hearing, params, false) : params;
  const noticed = told === params ? message : { ...message, params: told };
  if (!isObject(result)) return noticed;
  return await judgeResult(hearing, noticed, withoutHidden(target, result));
};

const withoutHidden = (target: PassTarget, result: Members): Members => {
  const some = target.hasFilters ? withAllowed('tools', target, result, (tool) => target.isAllowed(tool)) : result;
  return target.hidesPrompts ? withAllowed('prompts', target, some, (prompt) => target.isPromptAllowed(prompt)) : some;
};

const withAllowed = (
  list: 'tools' | 'prompts',
  { name: server }: PassTarget,
  result: Members,
  isAllowed: (name: string) => boolean,
): Members => {
  if (listInOtherCase[list](result) !== undefined) throw unreadable(server);
  const { [list]: items } = result;
  if (!Array.isArray(items)) return result;
  const allowed = items.filter(
    (item) => isObject(item) && typeof item['name'] === 'string' && !nameInOtherCase(item) && isAllowed(item['name']),
  );
  return allowed.length === items.length ? result : { ...result, [list]: allowed };
};

const judgeResult = async (hearing: Hearing, message: Members, result: Members): Promise<unknown> => {
  const rest = await withoutQuestionsOfTasks(hearing, result, true);
  const sorted = sortQuestions(hearing.target, rest);
  if (!sorted) return rest === message['result'] ? message : { ...message, result: rest };
  const { open, responses } = sorted;
  const state = typeof rest['requestState'] === 'string' ? rest['requestState'] : undefined;
  if (Object.keys(open).length === 0) return await hearing.nextRound(responses, state);
  // Gantry's own answers travel in the state that the client sends back.
  const requestState = wrapState(hearing.sealing, hearing.context, { requestState: state, responses });
  return { ...message, result: { ...rest, inputRequests: open, requestState } };
};

/**
 * Declines the questions of a task, in the result of `tasks/get`, a notice, or the answer that creates one. Those of a round stay: they
 * have no task.
 */
const withoutQuestionsOfTasks = async (hearing: Hearing, said: Members, isRound: boolean): Promise<Members> => {
  const taskId = isRound ? taskAskedFor(hearing.message) : undefined;
  const { carrier, declined } = withoutTaskQuestions(hearing.target, said as JsonObject, { isRound, taskId });
  for (const { taskId: asking, responses } of declined) await updateTask(hearing, asking, responses);
  return carrier;
};

const taskIdIn = ({ taskId }: Members): string | undefined => (typeof taskId === 'string' ? taskId : undefined);

const taskAskedFor = (message: Members | undefined): string | undefined => {
  const params = message?.['params'];
  return isObject(params) && String(message?.['method']).startsWith('tasks/') ? taskIdIn(params) : undefined;
};

const listInOtherCase = { tools: otherCaseOf(['tools']), prompts: otherCaseOf(['prompts']) };
const nameInOtherCase = otherCaseOf(['name']);
