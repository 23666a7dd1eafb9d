import type { ModelMessage } from 'ai';
import { leftOutText, mostCallsOfAnswer } from './call-limits.ts';
import type { RanCall } from './run-calls.ts';
import type { Step } from './step.ts';
import { askedMessage, resultsMessage, saidMessage } from './step-messages.ts';
import { writtenCall } from './text-call-format.ts';
import { findTextCalls } from './text-calls.ts';
import type { TurnTools, WrittenCall } from './turn-tools.ts';

/** The calls of an answer. */
export interface AnswerCalls {
  readonly calls: readonly WrittenCall[];
  /** What it says beside them. */
  readonly text: string;
  /** They stood in its text. */
  readonly isText: boolean;
}

/** The calls of an answer: the model's own, else, where these are read, those that it wrote as text. */
export const callsOf = (
  step: Step,
  options: {
    readonly readsText: boolean;
    readonly toolNames: readonly string[];
    /** As for {@link findTextCalls}. */
    readonly given: () => string;
    readonly newId: () => string;
  },
): AnswerCalls => {
  if (step.calls.length > 0 || !options.readsText || options.toolNames.length === 0)
    return { calls: step.calls, text: step.text, isText: false };
  const { before, calls } = findTextCalls(step.text, options);
  return {
    text: calls.length > 0 ? before : step.text,
    isText: calls.length > 0,
    calls: calls.map(({ name, input }) => ({ id: `call_${options.newId().slice(0, 16)}`, name, input })),
  };
};

/**
 * An answer with calls and the results of these, as the next request holds them; a note stands behind the result that it is about. Of calls
 * that put an item into the context nothing is left: neither the call, nor its result, nor what the model thought just to make it.
 */
export const callMessages = (
  step: Step,
  { calls, text, isText }: AnswerCalls,
  ran: readonly RanCall[],
  notes: readonly (string | undefined)[],
  tools: Pick<TurnTools, 'historyName'>,
): readonly ModelMessage[] => {
  const results = ran.flatMap((done, at) =>
    done.item ? [] : [{ ...done, output: withNote(done, notes[at]), call: calls[at] }],
  );
  const isWhole = results.length === ran.length;
  if (isText) {
    const rest = results.map(({ name, arguments: args }) => writtenCall(name, JSON.stringify(args)));
    const content = isWhole ? step.text : [text, ...rest].filter((part) => part.trim() !== '').join('\n');
    const told = [
      ...results.map(({ name, output }) => `[Tool result for ${name}]: ${textOf(output)}`),
      ...(calls.length < mostCallsOfAnswer ? [] : [`[Of any further calls of your answer]: ${leftOutText}`]),
    ];
    return [
      ...(content === '' ? [] : [{ role: 'assistant' as const, content }]),
      ...(told.length === 0 ? [] : [askedMessage(told.join('\n\n'))]),
    ];
  }
  const named = results.map((result) => ({ ...result, name: tools.historyName(result.call?.name ?? '') }));
  if (named.length === 0) {
    // Some providers refuse a thought that nothing follows which it led to.
    const parts = step.parts.slice(0, step.parts.findLastIndex(({ type }) => type === 'text') + 1);
    return parts.length === 0 ? [] : [saidMessage(parts, [])];
  }
  return [
    saidMessage(
      step.parts,
      named.map(({ id, name, arguments: args, call }) => ({ id, name, arguments: args, options: call?.options })),
    ),
    resultsMessage(named.map(({ id, name, output }) => ({ id, name, output }))),
  ];
};

const withNote = ({ output }: RanCall, note: string | undefined): RanCall['output'] => {
  if (note === undefined) return output;
  return output.type === 'content'
    ? { type: 'content', value: [...output.value, { type: 'text', text: note }] }
    : { ...output, value: `${output.value}\n\n${note}` };
};

const textOf = (output: RanCall['output']): string =>
  output.type === 'content'
    ? output.value.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    : output.value;
