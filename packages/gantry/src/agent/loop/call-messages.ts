import type { ModelMessage } from 'ai';
import { leftOutText, mostCallsOfAnswer } from './call-limits.ts';
import type { RanCall } from './run-calls.ts';
import type { Step } from './step.ts';
import { askedMessage, resultsMessage, saidMessage } from './step-messages.ts';
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

/** An answer with calls and the results of these, as the next request holds them; a note stands behind the result that it is about. */
export const callMessages = (
  step: Step,
  { calls, isText }: AnswerCalls,
  ran: readonly RanCall[],
  notes: readonly (string | undefined)[],
  tools: Pick<TurnTools, 'historyName'>,
): readonly ModelMessage[] => {
  const results = ran.map((done, at) => ({ ...done, output: withNote(done, notes[at]) }));
  if (isText)
    return [
      { role: 'assistant', content: step.text },
      askedMessage(
        [
          ...results.map(({ name, output }) => `[Tool result for ${name}]: ${textOf(output)}`),
          ...(calls.length < mostCallsOfAnswer ? [] : [`[Of any further calls of your answer]: ${leftOutText}`]),
        ].join('\n\n'),
      ),
    ];
  const nameAt = (at: number): string => tools.historyName(calls[at]?.name ?? '');
  return [
    saidMessage(
      step.parts,
      calls.map(({ id, options }, at) => ({ id, name: nameAt(at), arguments: ran[at]?.arguments ?? {}, options })),
    ),
    resultsMessage(results.map(({ id, output }, at) => ({ id, name: nameAt(at), output }))),
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
