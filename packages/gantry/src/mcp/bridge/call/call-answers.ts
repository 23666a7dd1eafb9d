import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Decision, DecideQuestion } from '../elicitation/decide-question.ts';
import type { OpenCall } from '../elicitation/open-call.ts';
import type { Sampler } from '../sampling/sampler.ts';
import type { Snapshot } from '../server/managed-server.ts';
import type { CallBudget } from './call-budget.ts';
import type { Peer } from './peer.ts';
import { toResponse } from './rounds.ts';

/** Answers what a server asks in the middle of one call. While it does, only the most a call may take counts. */
export interface CallAnswers {
  /** Settles a question, given the parameters of `elicitation/create`. */
  decide(params: unknown): Promise<Decision>;
  /**
   * Answers another request with the result of its method: a model where the operator lets it, else the client that made the call.
   * Undefined where nobody may be asked for that.
   */
  answer(method: string, params: unknown): Promise<JsonObject> | undefined;
  /**
   * Answers any request that comes over a session, where a question cannot wait for an agent.
   * @throws {GantryError} `execution_failed` where nobody may be asked for that, or nobody answers.
   */
  answerOver(method: string, params: unknown): Promise<JsonObject>;
  /** Whether the client was asked for anything; it is not asked the same again in another attempt. */
  readonly hasAskedPeer: boolean;
}

/** Makes the answers of one call. */
export const createCallAnswers = (of: {
  readonly snapshot: Snapshot;
  readonly open: OpenCall;
  readonly peer: Peer | undefined;
  readonly canHandBack: boolean;
  readonly budget: CallBudget;
  readonly decide: DecideQuestion;
  readonly sample: Sampler['sample'];
}): CallAnswers => {
  const { snapshot, open, peer, canHandBack, budget } = of;
  const { connection, entry, name } = snapshot;
  const { signal } = budget;

  const whilePaused = async <T>(work: () => Promise<T>): Promise<T> => {
    using _paused = budget.pause();
    return await work();
  };
  const asked = peer && {
    can: peer.can,
    ask: ((question, ending) => {
      answers.hasAskedPeer = true;
      return peer.ask(question, ending);
    }) satisfies Peer['ask'],
  };
  const decide = (params: unknown): Promise<Decision> =>
    whilePaused(() => of.decide(params, { calls: [open], canHandBack, peer: asked, signal }));
  const answer = (method: string, given: unknown): Promise<JsonObject> | undefined => {
    if (method === 'sampling/createMessage' && connection.maySample)
      return whilePaused(() => of.sample({ name, entry }, given, signal));
    const params = isObject(given) ? (given as JsonObject) : {};
    if (method === 'elicitation/create' || !asked?.can(method, params)) return undefined;
    return whilePaused(() => asked.ask({ method, params }, signal));
  };
  const answers: { -readonly [Key in keyof CallAnswers]: CallAnswers[Key] } = {
    hasAskedPeer: false,
    decide,
    answer,
    answerOver: async (method, params) => {
      if (method === 'elicitation/create') {
        const decision = await decide(params);
        return decision.action === 'hand-back' ? { action: 'decline' } : toResponse(decision);
      }
      const answered = await answer(method, params);
      if (answered) return answered;
      throw new GantryError('execution_failed', `Nobody can be asked for ${method.slice(0, 60)} in this call.`);
    },
  };
  return answers;
};
