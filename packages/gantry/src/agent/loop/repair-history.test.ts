import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { toPlainMessages } from './plain-messages.ts';
import { interruptedText, repairHistory } from './repair-history.ts';

const call = (toolCallId: string) => ({
  type: 'tool-call' as const,
  toolCallId,
  toolName: 'read',
  input: { path: '/a' },
});
const result = (toolCallId: string, value = 'ok') => ({
  type: 'tool-result' as const,
  toolCallId,
  toolName: 'read',
  output: { type: 'text' as const, value },
});
const user = (content: string): ModelMessage => ({ role: 'user', content });
const assistant = (...ids: string[]): ModelMessage => ({ role: 'assistant', content: ids.map(call) });
const tool = (...ids: string[]): ModelMessage => ({ role: 'tool', content: ids.map((id) => result(id)) });

describe('a history', () => {
  it('that is in order stays as it is', () => {
    const messages = [user('go'), assistant('a', 'b'), tool('a', 'b'), user('thanks')];
    expect(repairHistory(messages)).toEqual(messages);
    expect(repairHistory(messages)[2]).toBe(messages[2]);
  });

  it('gets a notice for a call whose result never came, right behind the call', () => {
    const repaired = repairHistory([user('go'), assistant('a', 'b'), tool('a'), user('still there?'), tool('stray')]);
    expect(repaired.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(repaired[2]).toMatchObject({
      content: [
        { toolCallId: 'a', output: { value: 'ok' } },
        { toolCallId: 'b', output: { type: 'error-text', value: interruptedText } },
      ],
    });
  });

  it('loses results without a call, and a second result of the same call', () => {
    expect(repairHistory([tool('x'), user('go'), assistant('a'), tool('a', 'y'), tool('a')])).toEqual([
      user('go'),
      assistant('a'),
      tool('a'),
    ]);
  });

  it('gets results that came one by one, or behind the next message, back into their place', () => {
    expect(repairHistory([assistant('a', 'b'), tool('b'), user('wait'), tool('a')])).toEqual([
      assistant('a', 'b'),
      tool('a', 'b'),
      user('wait'),
    ]);
  });
});

describe('a history in words', () => {
  it('has no calls and no results, and says the same', () => {
    const plain = toPlainMessages([user('go'), assistant('a'), tool('a'), { role: 'assistant', content: 'done' }]);
    expect(plain).toEqual([
      user('go'),
      { role: 'assistant', content: '[Called read with {"path":"/a"}]' },
      { role: 'user', content: '[Tool result for read]: ok' },
      { role: 'assistant', content: 'done' },
    ]);
  });
});
