import type { ModelMessage } from 'ai';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { startLoop } from '../../fixtures/model-loop.ts';
import { differences, unless, unmentioned } from '../lib/compare.ts';
import { asText, listOf, textsOf } from '../lib/read-cases.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

interface SentMessage {
  readonly role: string;
  readonly tool_call_id?: string;
  readonly content?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}

/** Stored messages → what the loop sends to a provider. */
export const history: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['messages']);
  refuseUnread(expect, 'the expectation', ['sent']);
  const stored = listOf(input['messages']).flatMap(toMessage);
  await using loop = await startLoop([{ text: 'Yes.' }]);
  await loop.run('', { messages: stored });
  const [request] = loop.model.requests;
  if (!request) return ['expected a request to the model, came none'];
  const sent = (request.body['messages'] as SentMessage[]).filter(({ role }) => role !== 'system');
  const wanted = expect['sent'];
  if (!isObject(wanted)) throw new NotCovered('the expectation says nothing of what is sent');
  refuseUnread(wanted, 'what is sent', ['resultsFor', 'c2Says', 'strayRemoved', 'resultsDirectlyAfterCalls']);
  const results = sent.filter(({ role }) => role === 'tool');
  const ids = results.map((message) => message.tool_call_id ?? '');
  const expected = textsOf(wanted['resultsFor']);
  const calls = sent.findIndex((message) => (message.tool_calls?.length ?? 0) > 0);
  const c2 = results.find((message) => message.tool_call_id === 'c2');
  return [
    ...differences('results', ids, expected),
    ...unmentioned('the result of c2', c2?.content ?? '', wanted['c2Says']),
    ...(wanted['resultsDirectlyAfterCalls'] === true
      ? differences(
          'what follows the calls',
          sent.slice(calls + 1, calls + 1 + expected.length).map(({ role }) => role),
          expected.map(() => 'tool'),
        )
      : []),
    ...unless(sent.at(-1)?.role === 'user', 'expected the user to have the last word', sent.at(-1)?.role),
  ];
};

const toMessage = (stored: unknown): ModelMessage[] => {
  if (!isObject(stored)) throw new NotCovered('a message is no object');
  const text = asText(stored['text']);
  switch (stored['role']) {
    case 'user':
      return [{ role: 'user', content: text }];
    case 'assistant':
      return [
        {
          role: 'assistant',
          content: textsOf(stored['calls']).map((id) => ({
            type: 'tool-call' as const,
            toolCallId: id,
            toolName: 'read',
            input: {},
          })),
        },
      ];
    case 'tool':
      return [
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: asText(stored['for']),
              toolName: 'read',
              output: { type: 'text', value: text },
            },
          ],
        },
      ];
    case undefined:
      // An event in between: whoever wrote the messages is gone, and nothing more was written.
      return [];
    default:
      throw new NotCovered(`a message of role ${asText(stored['role'])} cannot be read`);
  }
};
