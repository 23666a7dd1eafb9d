import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import type { AssistantTurn, StoredTurn, UserTurn } from '../../memory/conversation-turn.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { ContextSources } from './build-context.ts';
import { createContextBuilder } from './build-context.ts';
import { toMessages } from './turn-messages.ts';

const clock = fakeClock(Date.UTC(2026, 10, 30, 21, 5));
const sources: ContextSources = {
  clock,
  log: silentLog,
  timeZone: () => 'Europe/Berlin',
  memory: { list: async () => [] },
};
const asked = {
  namespace: 'session/s1',
  workspace: undefined,
  turns: [],
  turn: { role: 'user', origin: 'person', text: 'hello', atMs: 0 },
  provider: 'openai',
} as const;
const contentOf = (messages: readonly ModelMessage[]): string => {
  const content = messages.at(-1)?.content;
  return typeof content === 'string' ? content : '';
};
const said = async (more: Partial<ContextSources> = {}): Promise<string> => {
  const { messages } = await createContextBuilder({ ...sources, ...more })(asked);
  return contentOf(messages);
};

describe('the context of a turn', () => {
  it('has the time with the message, in its zone, and only the day before it', async () => {
    const { systemTail, messages } = await createContextBuilder(sources)(asked);
    expect(contentOf(messages)).toContain('Monday, 30 November 2026 at 22:05 (Europe/Berlin)');
    const before = systemTail();
    expect(before).toBe('Today is Monday, 30 November 2026 (Europe/Berlin).');
    await clock.advance(60_000);
    expect(systemTail()).toBe(before);
    await clock.advance(2 * 3_600_000);
    expect(systemTail()).toContain('1 December');
  });

  it('ends in what the user said, marked off from what the system adds', async () => {
    expect(await said()).toMatch(/^<context note="written by the system, not by the user">[^]*<\/context>\n\nhello$/);
  });

  it('lists keys of working memory and never their values', async () => {
    const memory: ContextSources['memory'] = {
      list: async () => [
        {
          key: 'session/s1/plan',
          text: 'SECRET',
          category: 'notes',
          tags: ['a'],
          savedAtMs: 0,
          expiresAtMs: clock.nowMs() + 240_000,
        },
      ],
    };
    const text = await said({ memory });
    expect(text).toContain('- `session/s1/plan` (expires in 4 min; notes; a)');
    expect(text).not.toContain('SECRET');
  });

  it('shows hints for services, and goes on without a source that fails', async () => {
    expect(await said({ hints: async () => 'Services that fit: mail.' })).toContain('Services that fit: mail.');
    expect(await said({ hints: async () => Promise.reject(new Error('down')) })).toContain('hello');
    expect(await said({ skills: async () => Promise.reject(new Error('down')) })).toContain('hello');
  });

  it('names the skills, and marks one whose server has changed', async () => {
    const skills: ContextSources['skills'] = async () => [
      {
        name: 'mcp/mail',
        content: 'x',
        summary: 'Send mail',
        savedAtMs: 0,
        freshness: { state: 'stale', reason: 'the server has version 2 now' },
      },
      { name: 'report', content: 'x', summary: '', savedAtMs: 0, freshness: { state: 'unknown' } },
    ];
    const { systemTail } = await createContextBuilder({ ...sources, skills })(asked);
    expect(systemTail()).toContain('- mcp/mail: Send mail [may be out of date: the server has version 2 now');
    expect(systemTail()).toContain('- report');
  });
});

describe('a conversation as messages', () => {
  const call = { id: 'c1', name: 'web.search', arguments: { q: 'x' }, status: 'done', result: 'found' } as const;
  type Told = Omit<UserTurn, 'atMs'> | Omit<AssistantTurn, 'atMs'>;
  const turn = (turns: readonly Told[]): StoredTurn[] =>
    turns.map((each, at) => ({ ...each, number: at + 1, atMs: 0 }));

  it('has the calls and results of its last turns, under names that providers take', () => {
    const messages = toMessages(
      turn([
        { role: 'user', origin: 'person', text: 'go' },
        { role: 'assistant', status: 'done', text: 'here', steps: [{ text: '', calls: [call] }] },
      ]),
      'openai',
    );
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(JSON.stringify(messages)).toMatch(/"toolName":"web-search-[0-9a-f]+"/);
  });

  it('has only the words of older turns', () => {
    const old = Array.from({ length: 8 }, (): Told[] => [
      { role: 'user', origin: 'person', text: 'go' },
      { role: 'assistant', status: 'done', text: 'here', steps: [{ text: '', calls: [call] }] },
    ]).flat();
    const messages = toMessages(turn(old), 'openai');
    expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(3);
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(8);
  });

  it('says that a call was interrupted whose process ended', () => {
    const messages = toMessages(
      turn([
        { role: 'user', origin: 'person', text: 'go' },
        {
          role: 'assistant',
          status: 'running',
          text: '',
          steps: [{ text: '', calls: [{ ...call, status: 'running' }] }],
        },
        { role: 'user', origin: 'person', text: 'still there?' },
      ]),
      'openai',
    );
    expect(JSON.stringify(messages[2])).toContain('interrupted before its result came');
    expect(messages.at(-1)).toEqual({ role: 'user', content: 'still there?' });
  });

  it.each(['done', 'running'] as const)('names what was shown in a turn that is %s, in place of the call', (status) => {
    const shown = { ...call, shown: 'A plan. (a.png)' };
    const steps = [
      { text: 'Let me look.', calls: [shown] },
      { text: '', calls: [shown, call] },
    ];
    const messages = toMessages(
      turn([
        { role: 'user', origin: 'person', text: 'go' },
        { role: 'assistant', status, text: '', steps },
      ]),
      'openai',
    );
    const line = {
      role: 'user',
      content: `[Put here by the tool ${call.name}, not by the user, and no longer shown] A plan. (a.png)`,
    };
    expect(messages.slice(0, 3)).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [{ type: 'text', text: 'Let me look.' }] },
      line,
    ]);
    expect(messages.slice(3, 5).map(({ role, content }) => [role, content.length])).toEqual([
      ['assistant', 1],
      ['tool', 1],
    ]);
    expect(messages[5]).toEqual(line);
  });

  it('marks what no user said, and joins two messages of users', () => {
    const messages = toMessages(
      turn([
        { role: 'user', origin: 'person', text: 'go' },
        { role: 'user', origin: 'notice', text: 'Task done.' },
        { role: 'assistant', status: 'failed', text: 'broken', steps: [] },
      ]),
      'openai',
    );
    expect(messages).toEqual([
      { role: 'user', content: 'go\n\n[Notice of the system, not from the user] Task done.' },
      { role: 'assistant', content: '(This turn failed: broken)' },
    ]);
  });
});
