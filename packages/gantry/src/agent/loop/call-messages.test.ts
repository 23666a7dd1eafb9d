import { expect, it } from 'vitest';
import { callMessages } from './call-messages.ts';
import type { RanCall } from './run-calls.ts';
import type { SaidPart } from './step.ts';

const item = { text: 'A plan.', media: [] };
const ran = (name: string, more: Partial<RanCall> = {}): RanCall => ({
  id: name,
  name,
  arguments: {},
  status: 'done',
  isError: false,
  text: 'seen',
  output: { type: 'text', value: 'seen' },
  endsTurn: false,
  durationMs: 0,
  ...more,
});
const thought: SaidPart = { type: 'reasoning', text: 'I look.' };
const words: SaidPart = { type: 'text', text: 'Let me look.' };
const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
const messagesOf = (parts: readonly SaidPart[], all: readonly RanCall[]) =>
  callMessages(
    { text: '', calls: [], isCutOff: false, finishReason: 'tool-calls', parts, usage },
    { calls: all.map(({ id, name }) => ({ id, name, input: {} })), text: '', isText: false },
    all,
    [],
    { historyName: (name) => name },
  );

it.each<[string, readonly SaidPart[], readonly SaidPart[]]>([
  ['all that was said before it', [thought, words], [thought, words]],
  ['and without the thought that led to it, which providers refuse alone', [words, thought], [words]],
  ['nothing, where nothing was said', [thought], []],
])('leaves of an answer that only put something into the context: %s', (_what, parts, left) => {
  const messages = messagesOf(parts, [ran('view_file', { item })]);
  expect(messages).toEqual(left.length === 0 ? [] : [{ role: 'assistant', content: left }]);
});

it('keeps a thought before the calls that stay, which some providers want back', () => {
  const [said, results] = messagesOf([thought], [ran('view_file', { item }), ran('look')]);
  expect(said).toMatchObject({ role: 'assistant', content: [thought, { type: 'tool-call', toolName: 'look' }] });
  expect(results).toMatchObject({ role: 'tool', content: [{ toolName: 'look', output: { value: 'seen' } }] });
});
