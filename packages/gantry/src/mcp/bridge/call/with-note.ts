import type { CallContext } from '../../../tool/context.ts';
import { reportedFailure } from '../../../tool/messages.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { declinedSentence, elicitationNote } from '../elicitation/note.ts';
import type { OpenCall } from '../elicitation/open-call.ts';

/** The outcome of a call with what its server asked meanwhile, and how that was answered; one passed through stays as it is. */
export const withNote = (outcome: Outcome, open: OpenCall, { caller }: CallContext): Outcome => {
  if (open.rounds.length === 0 || caller === 'passthrough' || outcome.status === 'parked') return outcome;
  if (outcome.status === 'failed' && !outcome.failure.reported) {
    const { failure } = outcome;
    const sentence = declinedSentence(open);
    return sentence === undefined
      ? outcome
      : { status: 'failed', failure: { ...failure, message: `${failure.message} ${sentence}` } };
  }
  const text = elicitationNote(open);
  if (text === undefined) return outcome;
  const note = { type: 'text' as const, text };
  if (outcome.status === 'done') return { ...outcome, parts: [...outcome.parts, note] };
  const { reported } = outcome.failure;
  return reported ? reportedFailure({ ...reported, parts: [...reported.parts, note] }) : outcome;
};
