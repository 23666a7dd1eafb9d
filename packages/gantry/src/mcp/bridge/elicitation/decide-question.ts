/**
 * Decides what a server is told when it asks something in the middle of a call. The steps stand in the order in which they apply: what
 * the policy refuses, what the form itself forbids, what the operator has answered beforehand, the calling client or agent, a responder.
 */
import type { Clock } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { flattenText } from '../../../text/flatten.ts';
import { askResponder } from './ask-responder.ts';
import { checkAnswers } from './check-answers.ts';
import { isDecision } from './decision-field.ts';
import type { FormField } from './form-field.ts';
import { shownName } from './form-field.ts';
import type { Form } from './form.ts';
import { fieldNamesIn, messageIn, readForm } from './form.ts';
import type { OpenCall } from './open-call.ts';
import { conversationResponderName } from './policy.ts';
import { redactArguments } from './redact.ts';
import type { ElicitationResponder } from './responder.ts';
import type { Peer } from '../call/peer.ts';
import { relayQuestion } from './relay-question.ts';
import { credentialsAsked } from './credential-asked.ts';
import { pageAddress } from './page-address.ts';
import { questionKind } from './question-kind.ts';
import { settleDefaults } from './settle-defaults.ts';

/** What the server is told; or that the question goes to the calling agent, which is not recorded as a round yet. */
export type Decision =
  /** `said` is the answer of the client itself, which goes on as it is. */
  | { readonly action: 'accept'; readonly content: JsonObject; readonly said?: JsonObject | undefined }
  | { readonly action: 'decline'; readonly reason: string }
  | { readonly action: 'cancel' }
  | { readonly action: 'hand-back'; readonly form: Form; readonly settled: JsonObject };

/** Whom a question concerns. */
export interface Asked {
  /** The calls that the server may mean: one, or all that are open on a server of the older protocol. They share a policy. */
  readonly calls: readonly OpenCall[];
  /** The call can wait, and its run can answer. */
  readonly canHandBack: boolean;
  /** The client that made the call, where it can be asked. */
  readonly peer?: Pick<Peer, 'can' | 'ask'> | undefined;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * Decides one question, given the parameters of `elicitation/create`. Never throws, and ends when the signal aborts. Takes a slot of every
 * call that is asked about, at once, and records the round on each.
 */
export type DecideQuestion = (params: unknown, asked: Asked) => Promise<Decision>;

/** Makes the decider. `defaultResponder` answers for servers whose policy names none. */
export const createQuestionDecider = (options: {
  readonly responders: ReadonlyMap<string, ElicitationResponder>;
  readonly defaultResponder: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}): DecideQuestion => {
  const { responders, clock, log } = options;
  // It hands out what a conversation says, so an operator has to name it for each server.
  const isConversation = options.defaultResponder === conversationResponderName;
  if (isConversation)
    log.warn({}, 'The responder "conversation" cannot be the default: a server has it when its own block names it.');
  const defaultResponder = isConversation ? undefined : options.defaultResponder;

  const responderOf = ({ server, policy }: OpenCall): ElicitationResponder | undefined => {
    const name = policy.responder ?? defaultResponder;
    const responder = name === undefined ? undefined : responders.get(name);
    // Another one in its place would say more than the operator allowed.
    if (name && !responder)
      log.warn({ server, responder: name }, 'The responder of a server does not exist; only its defaults answer.');
    return responder;
  };

  const consult = async (form: Form, settled: JsonObject, { calls, signal }: Asked): Promise<Decision> => {
    const [call] = calls as readonly [OpenCall];
    const open = form.fields.filter(({ name }) => !Object.hasOwn(settled, name));
    const decisions = open.filter(isDecision);
    if (decisions.some(({ required }) => required) || (open.length > 0 && decisions.length === open.length))
      return decline(`${listed(decisions)} is for a person to decide`);
    const responder = responderOf(call);
    if (!responder) return decline('nothing is set up that may answer it');
    const answer = await askResponder(
      responder,
      {
        server: call.server,
        calls: calls.map(({ tool, args, namespace }) => ({ tool, args: redactArguments(args), namespace })),
        message: form.message,
        fields: open.filter((field) => !decisions.includes(field)),
        settledNames: Object.keys(settled),
        isAmbiguous: calls.length > 1,
        signal,
      },
      { timeoutMs: call.policy.responderTimeoutMs, clock, log },
    );
    if (signal.aborted) return { action: 'cancel' };
    if (answer.action === 'decline') return decline(flattenText(answer.reason, { maxChars: 300 }));
    // Decisions that were not asked for are left out, so that the server takes its own default.
    const asked = { ...form, fields: form.fields.filter((field) => !decisions.includes(field)) };
    const checked = checkAnswers(asked, answer.content, settled);
    if (!checked.ok) return decline(`the answer that was found does not fit: ${checked.reason}`);
    if (form.fields.length > 0 && checked.answeredFields.length === 0)
      return decline('the answer that was found holds none of the fields');
    return { action: 'accept', content: checked.content };
  };

  const decide = async (params: unknown, asked: Asked): Promise<Decision> => {
    const { calls, canHandBack, signal } = asked;
    const [call] = calls;
    if (signal.aborted) return { action: 'cancel' };
    if (!isObject(params)) return decline('it has no parameters');
    if (!call) return decline('no call is open that it could belong to');
    const { policy, server } = call;
    if (policy.mode === 'decline' || policy.mode === 'off') return decline('questions of this server are not answered');
    const question = params as JsonObject;
    const peer = asked.peer?.can('elicitation/create', question) ? asked.peer : undefined;
    const asking = questionKind(params);
    if ('problem' in asking) return decline(asking.problem);
    const isPage = asking.kind === 'page';
    if (isPage && !peer) return decline('it wants a person to open a page in a browser, and there is none here');
    const address = isPage ? pageAddress(params['url']) : undefined;
    if (isPage && address === undefined) return decline('it names no page that may be opened');
    if (!takeSlots(calls)) return decline(`no more than ${policy.maxPerCall} questions are answered in one call`);
    // A page to open asks nothing that Gantry could look at.
    if (peer && address !== undefined) return await relayQuestion({ ...question, url: address }, peer, signal);
    const read = readForm(params);
    if ('problem' in read) return decline(read.problem);
    const { form } = read;
    const refused = credentialsAsked(params, policy.deniedFields);
    if (refused.length > 0)
      return decline(`it asks for ${refused.join(', ')}, which is never given to a server this way`);
    const { settled, dropped } = settleDefaults(form, policy.defaults);
    if (dropped.length > 0)
      log.warn(
        { server, fields: dropped.map(shownName) },
        'Defaults do not fit what the server asks for; they are left out.',
      );
    // No fields: a bare confirmation, which no default has given.
    if (form.fields.length > 0 && form.fields.every(({ name }) => Object.hasOwn(settled, name)))
      return { action: 'accept', content: settled };
    if (peer) return await relayQuestion(question, peer, signal);
    if (policy.mode === 'handback' && canHandBack && calls.length === 1) return { action: 'hand-back', form, settled };
    return await consult(form, settled, asked);
  };

  return async (params, asked) => {
    let decision: Decision;
    try {
      decision = await decide(params, asked);
    } catch (error) {
      log.error({ server: asked.calls[0]?.server, error: messageOf(error) }, 'A question could not be decided.');
      decision = decline('it could not be dealt with');
    }
    if (decision.action !== 'hand-back') recordRound(params, asked.calls, decision);
    return decision;
  };
};

const decline = (reason: string): Decision => ({ action: 'decline', reason });

/** All or none, and without waiting in between: two questions at once cannot share the last slot. */
const takeSlots = (calls: readonly OpenCall[]): boolean =>
  calls.every(({ asked, policy }) => asked < policy.maxPerCall) && calls.every((call) => call.takeSlot());

const recordRound = (
  params: unknown,
  calls: readonly OpenCall[],
  decision: Exclude<Decision, { readonly action: 'hand-back' }>,
): void => {
  const round = {
    message: messageIn(params),
    fields: fieldNamesIn(params),
    action: decision.action,
    ...(decision.action === 'decline' && { reason: decision.reason }),
    answeredFields: decision.action === 'accept' ? Object.keys(decision.content).map(shownName) : [],
  };
  for (const call of calls) call.record(round);
};

const listed = (fields: readonly FormField[]): string => fields.map(({ name }) => `"${shownName(name)}"`).join(', ');
