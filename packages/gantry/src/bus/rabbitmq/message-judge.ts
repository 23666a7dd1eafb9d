import { messageOf } from '../../kernel/errors.ts';
import type { Log, LogFacts } from '../../kernel/log.ts';
import type { MessageHandler, Verdict } from '../bus.ts';
import type { DecodedMessage, MessageNote } from './message-codec.ts';

// One delivery and three more, as every bus gives them.
const mostAttempts = 4;
// Also a broker that starts anew says of everything it has kept that somebody may have had it, so this is no small number.
const mostLosses = 10;
const mostRemembered = 1000;

/** What becomes of a message: it is done with, buried, or put behind the others with a note. */
export type Judgement =
  | { readonly verdict: 'ack' | 'dead-letter' }
  | { readonly verdict: 'requeue'; readonly note: MessageNote };

/** Decides what becomes of the messages of one subscription. */
export interface MessageJudge {
  /**
   * Judges a message once its handler has ended. Handlers get it at most three times more.
   * @param isRedelivered it was given to somebody before, who has not settled it.
   */
  judge(message: DecodedMessage, isRedelivered: boolean): Promise<Judgement>;
}

/**
 * Makes the judge of a subscription.
 *
 * A message that comes again because its connection broke is recognised, and its handler does not run twice. When somebody else may have
 * had it, who went away without a word, that is counted and the message goes behind the others, lest one that ends its process ends all.
 */
export const createMessageJudge = (options: {
  readonly subscriptionName: string;
  readonly handler: MessageHandler;
  readonly log: Log;
}): MessageJudge => {
  const { subscriptionName, handler, log } = options;
  const judgements = new Map<string, Promise<Judgement>>();

  const remember = (key: string, judgement: Promise<Judgement>): Promise<Judgement> => {
    judgements.set(key, judgement);
    for (const oldest of judgements.keys()) if (judgements.size > mostRemembered) judgements.delete(oldest);
    return judgement;
  };

  const factsOf = ({ envelope, topic }: DecodedMessage): LogFacts => {
    const { messageType, messageId } = envelope;
    return { topic, subscriptionName, messageType, messageId };
  };

  const handle = async (message: DecodedMessage): Promise<Judgement> => {
    const { envelope, topic, attempts, losses } = message;
    const facts = factsOf(message);
    let verdict: Verdict;
    try {
      verdict = await handler(envelope, topic);
    } catch (error) {
      log.error({ ...facts, err: error }, `Message dropped: its handler failed with "${messageOf(error)}".`);
      return { verdict: 'dead-letter' };
    }
    if (verdict === 'dead-letter') log.warn(facts, 'Message dead-lettered by its handler.');
    if (verdict !== 'retry') return { verdict };
    if (attempts + 1 < mostAttempts) return { verdict: 'requeue', note: { topic, attempts: attempts + 1, losses } };
    log.error(facts, `Message dropped after ${mostAttempts} attempts.`);
    return { verdict: 'dead-letter' };
  };

  const countLoss = async (message: DecodedMessage): Promise<Judgement> => {
    const { topic, attempts, losses } = message;
    if (losses < mostLosses) return { verdict: 'requeue', note: { topic, attempts, losses: losses + 1 } };
    log.error(
      factsOf(message),
      `Message dropped: ${mostLosses + 1} times somebody had it and went away without a word.`,
    );
    return { verdict: 'dead-letter' };
  };

  return {
    judge: (message, isRedelivered) => {
      const { envelope, attempts, losses, isResent = false } = message;
      const key = `${envelope.messageId} ${attempts} ${losses}`;
      // Whoever publishes an envelope twice on purpose means it.
      const known = isRedelivered || isResent ? judgements.get(key) : undefined;
      return known ?? remember(key, isRedelivered ? countLoss(message) : handle(message));
    },
  };
};
