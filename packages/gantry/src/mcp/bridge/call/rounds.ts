/**
 * A call may take several rounds: the server answers with what it wants to know, and the same call is sent again with the answers and
 * the server's own state. Nothing is kept anywhere between rounds but {@link CallState}, so a round can wait for days and go on in
 * another process.
 */
import type { JsonObject } from '../../../kernel/json.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { Decision } from '../elicitation/decide-question.ts';
import type { InputRequired } from '../result/unfinished.ts';
import { inputRequiredOf } from '../result/unfinished.ts';

/** Where a call stands between two rounds. Survives JSON. */
export interface CallState extends InputRequired {
  /** What has been answered, by the key of its request. */
  readonly responses: JsonObject;
}

/** What a round sends beside the call itself. */
export interface RoundParams {
  readonly inputResponses?: JsonObject | undefined;
  readonly requestState?: string | undefined;
}

/** A question that waits for the calling agent or a person. */
export interface HandedBack {
  /** Of the request that is asked. */
  readonly key: string;
  readonly state: CallState;
  readonly decision: Extract<Decision, { readonly action: 'hand-back' }>;
}

/** What the rounds of a call work with. */
export interface RoundsOptions {
  readonly server: string;
  readonly tool: string;
  /** Sends the call, or its next round, and gives what the server answered. */
  readonly send: (round: RoundParams) => Promise<unknown>;
  /** Settles one question of the server by policy. */
  readonly decide: (params: unknown) => Promise<Decision>;
  /** Answers a request other than a question, with the result of its method; undefined where the server may not ask for that. */
  readonly answer: (method: string, params: unknown) => Promise<JsonObject> | undefined;
  /** Hands a question back; gives how the call ended for now, or the answer when that was not possible. */
  readonly handBack: (question: HandedBack) => Promise<Outcome | Exclude<Decision, { readonly action: 'hand-back' }>>;
}

/** A final result as the server wrote it, or how the call ended without one. */
export type RoundsEnd = { readonly raw: unknown } | { readonly outcome: Outcome };

// A server that asks again whatever it is told would never end; policy answers far fewer.
const maxRounds = 20;

/** Runs a call through its rounds, from the start or from where it stands. */
export const runRounds = async (options: RoundsOptions, from?: CallState): Promise<RoundsEnd> => {
  const { server, tool, send } = options;
  let state = from;
  for (let round = 0; round < maxRounds; round += 1) {
    let params: RoundParams = {};
    if (state) {
      const settled = await settle(state, options);
      if ('outcome' in settled) return settled;
      const { requestState } = state;
      params = {
        ...(Object.keys(settled.responses).length > 0 && { inputResponses: settled.responses }),
        // Exactly as it came, or not at all when none came.
        ...(requestState !== undefined && { requestState }),
      };
    }
    const raw = await send(params);
    const asked = inputRequiredOf(raw);
    if (!asked) return { raw };
    const { requestState } = asked;
    if (Object.keys(asked.requests).length === 0 && requestState === undefined)
      return failed(`Server "${server}" wants something more for tool "${shown(tool)}" and does not say what.`);
    state = { ...asked, responses: {} };
  }
  return failed(
    `Server "${server}" kept asking before it ran tool "${shown(tool)}", ${maxRounds} times; it was given up.`,
  );
};

/** Answers what is still open of a round. */
const settle = async (
  state: CallState,
  { server, tool, decide, answer, handBack }: RoundsOptions,
): Promise<{ readonly responses: JsonObject } | { readonly outcome: Outcome }> => {
  let { responses } = state;
  for (const [key, { method, params }] of Object.entries(state.requests)) {
    if (Object.hasOwn(responses, key)) continue;
    if (method !== 'elicitation/create') {
      const answered = await answer(method, params);
      if (!answered)
        return failed(
          `Server "${server}" asked for "${shown(method)}" in the middle of tool "${shown(tool)}", which Gantry did not offer it; the call was not finished.`,
        );
      responses = Object.fromEntries([...Object.entries(responses), [key, answered]]);
      continue;
    }
    const decision = await decide(params);
    const settled =
      decision.action === 'hand-back' ? await handBack({ key, state: { ...state, responses }, decision }) : decision;
    if ('status' in settled) return { outcome: settled };
    // A key may be any text, `__proto__` too.
    responses = Object.fromEntries([...Object.entries(responses), [key, toResponse(settled)]]);
  }
  return { responses };
};

/** Says a decision as the result of `elicitation/create`. */
export const toResponse = (decision: Exclude<Decision, { readonly action: 'hand-back' }>): JsonObject =>
  decision.action === 'accept'
    ? (decision.said ?? { action: 'accept', content: decision.content })
    : { action: decision.action };

const failed = (message: string): { readonly outcome: Outcome } => ({
  outcome: failedOutcome('execution_failed', message),
});

const shown = (text: string): string => flattenText(text, { maxChars: 100 });
