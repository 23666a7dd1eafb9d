import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { JsonObject } from '../../../packages/gantry/src/kernel/json.ts';
import { differences, isSame, shown, unless, unmentioned } from './compare.ts';
import { parseLoose } from './loose-value.ts';
import { NotCovered, refuseUnread } from './verdict.ts';

/** How a call ended and what reached the tool. */
export interface CallFacts {
  readonly isError: boolean;
  /** What the model reads. */
  readonly text: string;
  readonly received: readonly { readonly tool: string; readonly args: JsonObject }[];
  /** What the model wrote. */
  readonly written: string;
}

/**
 * Judges a call by its expectation: the arguments that the tool has to get, `{ error }`, `{ oneOf }`, or an outcome in words such as
 * "error naming urls and array" or "{n:7} or error".
 */
export const judgeCall = (subject: string, expected: unknown, facts: CallFacts): string[] => {
  if (typeof expected === 'string') {
    const options = expected.split(';', 1)[0]?.split(/\s+or\s+/) ?? [];
    return any(subject, expected, facts, options, judgePhrase);
  }
  if (!isObject(expected)) throw new NotCovered(`the expectation ${shown(expected)} is no outcome`);
  const keys = Object.keys(expected);
  if (keys.length === 1 && Array.isArray(expected['oneOf']))
    return any(subject, expected, facts, expected['oneOf'] as unknown[], judgeCall);
  if (keys.length === 1 && 'args' in expected) return judgeArguments(subject, expected['args'], facts);
  return 'error' in expected && (keys.length === 1 || !isObject(facts.received[0]?.args))
    ? judgeError(subject, expected['error'], facts)
    : judgeArguments(subject, expected, facts);
};

/** Judges a refusal: `true`, or what its text mentions and how long it may be. */
export const judgeError = (subject: string, expected: unknown, facts: CallFacts): string[] => {
  const wanted = isObject(expected) ? expected : {};
  refuseUnread(wanted, 'the expected error', ['mentions', 'maxChars']);
  const { mentions, maxChars } = wanted;
  return [
    ...unless(facts.isError, `${subject}: expected an error`, facts.received[0]?.args ?? facts.text),
    ...unless(facts.received.length === 0, `${subject}: expected that no tool ran`, facts.received),
    ...unmentioned(`${subject}: error`, facts.text, mentions),
    ...(typeof maxChars === 'number'
      ? unless(facts.text.length <= maxChars, `${subject}: expected at most ${maxChars} characters`, facts.text)
      : []),
  ];
};

const judgeArguments = (subject: string, expected: unknown, facts: CallFacts): string[] => {
  const [first, ...more] = facts.received;
  if (!first || facts.isError)
    return [`${subject}: expected ${shown(expected)} to reach the tool, came the error ${shown(facts.text)}`];
  if (more.length > 0) return [`${subject}: expected one call, came ${facts.received.length}`];
  // A list in words stands for the one parameter it is about.
  const [only] = Object.values(first.args);
  const actual = Array.isArray(expected) && Object.keys(first.args).length === 1 ? only : first.args;
  return differences(subject, actual, expected);
};

const any = <T>(
  subject: string,
  expected: unknown,
  facts: CallFacts,
  options: readonly T[],
  judge: (subject: string, option: T, facts: CallFacts) => string[],
): string[] => {
  if (options.some((option) => judge(subject, option, facts).length === 0)) return [];
  const came = facts.isError ? `the error ${shown(facts.text)}` : shown(facts.received);
  return [`${subject}: expected ${shown(expected)}, came ${came}`];
};

const judgePhrase = (subject: string, phrase: string, facts: CallFacts): string[] => {
  const text = phrase.trim();
  const refusal = /^(?:an? )?(?:error|refused|refusal|blocked|rejected|invalid)\b\s*(.*)$/i.exec(text);
  if (refusal) return judgeError(subject, { mentions: namedIn(refusal[1] as string) }, facts);
  if (/^(?:success|accepted|ok|done)$/i.test(text))
    return unless(!facts.isError, `${subject}: expected success`, facts.text);
  if (/^(?:unchanged|as (?:it is|written))$/i.test(text))
    return judgeArguments(subject, JSON.parse(facts.written), facts);
  if (/^(?:the )?exact digits$/i.test(text)) {
    const digits = /\d+/.exec(facts.written)?.[0] ?? '';
    const came = facts.received.map(({ args }) => args);
    return unless(JSON.stringify(came).includes(digits), `${subject}: expected the digits ${digits}`, came);
  }
  const unpacked = /^unpacked into (\S+)\s+(\{.*\})$/.exec(text);
  if (unpacked) {
    const call = { tool: unpacked[1], args: parseLoose(unpacked[2] as string) };
    return unless(
      facts.received.some((received) => isSame(received, call)),
      `${subject}: expected ${shown(call)}`,
      facts.received,
    );
  }
  if (/^[[{]/.test(text)) return judgeArguments(subject, parseLoose(text), facts);
  throw new NotCovered(`the outcome "${phrase}" cannot be read`);
};

const namedIn = (rest: string): string[] => {
  if (rest === '') return [];
  const names = /^(?:naming|that (?:names|mentions|says)|mentioning|which names)\s+(.+)$/i.exec(rest)?.[1];
  if (names === undefined) throw new NotCovered(`the error "${rest}" cannot be read`);
  return names.split(/\s*,\s*|\s+and\s+/).map((name) => name.replaceAll(/^["']|["']$/g, ''));
};
