import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { cutText } from '../../text/cut.ts';
import type { CallContext } from '../../tool/context.ts';
import type { ModelPort } from '../../tool/model-port.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import { isConsequential } from './effect-of-call.ts';

/** A call that may run in this context, or the text of why it did not. */
export type GatedCall = { readonly context: CallContext } | { readonly refusal: string };

/** Keeps a turn in which a user only tells something from writing to the outside. */
export interface ActionGate {
  /** Looks at a call before it runs. Asks the small model at most once a turn, and only when a call could write. */
  admit(target: ToolRegistration | undefined, context: CallContext): Promise<GatedCall>;
}

/** What the gate of a turn works with. */
export interface ActionGateOptions {
  /** Asks the small model. */
  readonly complete: ModelPort['complete'];
  /** What the user said. */
  readonly asked: string;
  /** What the agent had said before, which a "yes" answers. */
  readonly before: string | undefined;
  readonly namespace: string;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Is on in the calls of a turn that only shares information, and so in those of the subagents that it hands work to. */
export const sharesOnlyFlag = 'shares-only';

/** Its runs have the same flag on, and are kept from writing by it. */
const handsOver = 'spawn_subagent';
const shownChars = 4_000;
const system =
  'You classify one message of a user to an assistant. Answer with one word. ACT: the message asks for anything, agrees to something the assistant proposed, or gives an instruction, directly or politely, now or for later. SHARE: it only tells something, and nothing is to be done about it. When in doubt, ACT.';

/** The text of a call that did not run because nobody asked for it. */
export const notRunText = (name: string): string =>
  `Not run: "${name}" would change something outside, and the user only shared information in this turn and asked for nothing. Answer without it, and ask first whether it is to be done.`;

const notAskedForText = (name: string): string =>
  `Not run: "${name}" would change something outside, and nobody asked for it: this is only a further look. Write what you found.`;

/** Makes the gate of a user's turn. Where the small model fails or says something else, calls run. */
export const createActionGate = (options: ActionGateOptions): ActionGate => {
  const { complete, asked, before, namespace, signal, log } = options;
  let classifying: Promise<boolean> | undefined;

  const sharesOnly = async (): Promise<boolean> => {
    const prompt = [
      before === undefined ? undefined : `The assistant said before:\n"""\n${cutText(before, shownChars)}\n"""`,
      `The message:\n"""\n${cutText(asked, shownChars)}\n"""`,
      'ACT or SHARE?',
    ];
    try {
      const said = await complete({
        tier: 'low',
        system,
        prompt: prompt.filter((part) => part !== undefined).join('\n\n'),
        namespace,
        signal,
      });
      return /^\W*share\b/i.test(said);
    } catch (error) {
      log.warn({ namespace, reason: messageOf(error) }, 'it could not be told whether a message asks for anything');
      return false;
    }
  };

  return {
    admit: async (target, context) => {
      const isClosable = target !== undefined && (isConsequential(target) || target.name === handsOver);
      if (!isClosable) return { context };
      classifying ??= sharesOnly();
      return (await classifying) ? closedTo(target, context, notRunText) : { context };
    },
  };
};

/** The gate of a run that was handed its work by a turn that only shared information. */
export const closedGate: ActionGate = {
  admit: async (target, context) => (target === undefined ? { context } : closedTo(target, context, notRunText)),
};

/** The gate of a further look, which nobody asked for. */
export const lookOnlyGate: ActionGate = {
  admit: async (target, context) => (target === undefined ? { context } : closedTo(target, context, notAskedForText)),
};

/** What may not write may still hand work over, to others who may not write either. */
const closedTo = (target: ToolRegistration, context: CallContext, refusalOf: (name: string) => string): GatedCall =>
  isConsequential(target)
    ? { refusal: refusalOf(target.name) }
    : { context: { ...context, features: new Set([...(context.features ?? []), sharesOnlyFlag]) } };
