import { GantryError } from '../../../kernel/errors.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { LedgerEntry } from '../../../store/ledger.ts';
import type { QuestionRecord } from './question-record.ts';

/** The same words for an unknown question and for one of another session, so that nobody learns which questions there are. */
export const noOpenQuestion = (id: string): GantryError =>
  new GantryError(
    'question_unknown',
    `There is no open question "${shown(id)}" in this conversation. Use the question_id exactly as the result that asked gave it.`,
    { details: { id } },
  );

/** Why a question cannot be answered any more; undefined while it can. */
export const settledRefusal = (entry: LedgerEntry<QuestionRecord>, nowMs: number): GantryError | undefined => {
  const { id, settlement, value, expiresAtMs } = entry;
  const { tool } = value.call;
  const call = `tool "${shown(tool)}" of server "${value.server}"`;
  if (!settlement) return expiresAtMs === undefined || expiresAtMs > nowMs ? undefined : expired(id, call);
  switch (settlement.as) {
    case 'expired':
      return expired(id, call);
    case 'cancelled':
      return refusal(
        `Question "${id}" was cancelled: ${settlement.reason ?? 'its call ended'}. The call to ${call} did not run; call it again if it is still wanted.`,
      );
    default:
      if (value.notifiedAtMs !== undefined) return refusal(interruptedText(entry));
      return refusal(`Question "${id}" was already ${settlement.as}. Its call to ${call} went on with that.`);
  }
};

/** Tells of a call that went on and whose process then ended. */
export const interruptedText = ({ id, value }: Pick<LedgerEntry<QuestionRecord>, 'id' | 'value'>): string => {
  const { call, server, form } = value;
  const args = JSON.stringify(call.arguments);
  return [
    `The call to tool "${shown(call.tool)}" of server "${server}" was interrupted by a restart of Gantry, after its question "${form.message}" (${id}) had been answered.`,
    `Whether the tool ran is unknown: check before calling it again. Its arguments were ${flattenText(args, { maxChars: 500 })}.`,
  ].join(' ');
};

/** A mistake in an answer; the question stays open. */
export const refusal = (message: string): GantryError => new GantryError('invalid_arguments', message);

const expired = (id: string, call: string): GantryError =>
  refusal(
    `Question "${id}" has expired, so the call to ${call} did not run. Call the tool again if it is still wanted; the server asks anew.`,
  );

const shown = (text: string): string => flattenText(text, { maxChars: 100 });
