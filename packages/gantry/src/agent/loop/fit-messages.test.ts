import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import type { FitMessages } from './fit-messages.ts';
import { createFitMessages, lengthOf } from './fit-messages.ts';
import { outputText } from './plain-messages.ts';

const stashed = new Map<string, string>();
const create = (): FitMessages => {
  stashed.clear();
  return createFitMessages({
    stash: async ({ namespace, key, text }) => {
      stashed.set(`${namespace}/${key}`, text);
      return `${namespace}/${key}`;
    },
    namespace: 'session/s1',
    isExempt: (name) => name === 'get_from_working_memory',
    isLast: (name) => name === 'file_read',
  });
};
const turn = (id: string, toolName: string, value: string): ModelMessage[] => [
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: id, toolName, input: { q: 'x'.repeat(300) } }] },
  { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName, output: { type: 'text', value } }] },
];
const resultOf = (messages: readonly ModelMessage[], id: string): string => {
  for (const message of messages)
    if (message.role === 'tool')
      for (const part of message.content)
        if (part.type === 'tool-result' && part.toolCallId === id) return outputText(part.output);
  return '';
};

describe('messages that are too long', () => {
  it('lose of their largest results, with head and tail, and the whole is kept', async () => {
    const fit = create();
    const text = `${'a'.repeat(10_000)}${'b'.repeat(10_000)}`;
    const messages = [...turn('c1', 'web', text), ...turn('c2', 'web', 'small')];
    const fitted = await fit.fit(messages, 8_000);
    expect(lengthOf(fitted)).toBeLessThanOrEqual(8_000);
    expect(fitted).toHaveLength(messages.length);
    const shown = resultOf(fitted, 'c1');
    expect(shown).toMatch(
      /^a+\n\[… \d+ characters of this result \(call c1\) are left out here; the whole is at `stash\/s1\/c1` …\]\nb+$/,
    );
    expect(resultOf(fitted, 'c2')).toBe('small');
    expect(stashed.get('stash/s1/c1')).toBe(text);
    expect(fit.notice()).toMatch(/- c1: web\(\{"q":"x+…\) → `stash\/s1\/c1`/);
  });

  it('keep each whole once, and the first whole, however often they are shortened', async () => {
    const fit = create();
    const text = 'a'.repeat(20_000);
    const once = await fit.fit(turn('c1', 'web', text), 10_000);
    await fit.fit(once, 2_000);
    expect([...stashed]).toEqual([['stash/s1/c1', text]]);
  });

  it('keep what was read from where it is stashed, and lose files last', async () => {
    const fit = create();
    const messages = [
      ...turn('m', 'get_from_working_memory', 'm'.repeat(9_000)),
      ...turn('f', 'file_read', 'f'.repeat(9_000)),
      ...turn('w', 'web', 'w'.repeat(5_000)),
    ];
    const fitted = await fit.fit(messages, 20_000);
    expect(resultOf(fitted, 'm')).toHaveLength(9_000);
    expect(resultOf(fitted, 'f')).toHaveLength(9_000);
    expect(resultOf(fitted, 'w').length).toBeLessThan(2_000);
    const further = await fit.fit(messages, 12_000);
    expect(resultOf(further, 'm')).toHaveLength(9_000);
    expect(resultOf(further, 'f').length).toBeLessThan(2_500);
  });

  it('stay as they are when nothing can be shortened, and it comes to an end', async () => {
    const messages: ModelMessage[] = [
      { role: 'user', content: 'u'.repeat(50_000) },
      ...turn('c', 'web', 'w'.repeat(150)),
    ];
    expect(await create().fit(messages, 100)).toEqual(messages);
  });

  it('never lose half a character', async () => {
    const fitted = await create().fit(turn('c', 'web', '😀'.repeat(5_000)), 3_001);
    expect(resultOf(fitted, 'c').isWellFormed()).toBe(true);
  });

  it('lose of results that stand as text, without an id to find them by, only their end', async () => {
    const fit = create();
    const messages: ModelMessage[] = [
      { role: 'user', content: `read it ${'u'.repeat(3_000)}` },
      { role: 'assistant', content: 'tool_call_name: web' },
      { role: 'user', content: `[Tool result for web]: ${'w'.repeat(9_000)}` },
      { role: 'user', content: `[Tool result for get_from_working_memory]: ${'m'.repeat(2_000)}` },
    ];
    const fitted = await fit.fit(messages, 8_000);
    expect(lengthOf(fitted)).toBeLessThanOrEqual(8_000);
    expect(fitted[2]?.content).toMatch(/^\[Tool result for web\]: w+\n\[result truncated — \d+ chars omitted\]$/);
    expect([fitted[0], fitted[1], fitted[3]]).toEqual([messages[0], messages[1], messages[3]]);
    expect(stashed.size).toBe(0);
    expect(fit.notice()).toBe('');
  });

  it('show no result beyond a cap, but what was read from where it is kept', async () => {
    const fit = create();
    const messages = [
      ...turn('c1', 'web', 'w'.repeat(8_001)),
      ...turn('c2', 'web', 'x'.repeat(8_000)),
      ...turn('m', 'get_from_working_memory', 'm'.repeat(20_000)),
    ];
    const capped = await fit.cap(messages, 8_000);
    expect(resultOf(capped, 'c1').length).toBeLessThanOrEqual(8_000);
    expect(resultOf(capped, 'c1')).toContain('`stash/s1/c1`');
    expect(stashed.get('stash/s1/c1')).toBe('w'.repeat(8_001));
    expect(resultOf(capped, 'c2')).toBe('x'.repeat(8_000));
    expect(resultOf(capped, 'm')).toHaveLength(20_000);
    // The next request of the turn has it shortened already.
    expect(await fit.cap(capped, 8_000)).toEqual(capped);
  });
});
