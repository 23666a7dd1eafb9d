import { describe, expect, it } from 'vitest';
import type { KnownSkill } from '../../memory/skills.ts';
import { createSkillRecall } from './recall-skills.ts';

const skill = (name: string, summary: string, content = `How to: ${name}.`): KnownSkill => ({
  name,
  summary,
  content,
  savedAtMs: 0,
  freshness: { state: 'unknown' },
});
const invoices = skill(
  'send-invoices',
  'Send invoices by mail',
  'Attach the PDF.\n\nSee also: `mail/attachments`, nothing.',
);
const attachments = skill('mail/attachments', 'Sizes of attached files');
const weather = skill('weather', 'Ask the weather service');
const all = [invoices, attachments, weather];

describe('the skills that come with a message', () => {
  it('are those that it is about, with the names that they point to', () => {
    const text = createSkillRecall({ most: 5 }).take('session/1', 'Please send the invoices of May', all);
    expect(text).toContain('<skill name="send-invoices">\nAttach the PDF.');
    expect(text).toContain('See also, with get_skill: mail/attachments.');
    expect(text).not.toContain('weather');
  });

  it('come once in a session, and again in others and after it began anew', () => {
    const recall = createSkillRecall({ most: 5 });
    const ask = (session: string): string | undefined => recall.take(session, 'send the invoices', all);
    expect(ask('session/1')).toContain('send-invoices');
    expect(ask('session/1')).toBeUndefined();
    expect(ask('session/2')).toContain('send-invoices');
    recall.forget('session/1');
    expect(ask('session/1')).toContain('send-invoices');
  });

  it('are at most so many, the others on the next message', () => {
    const recall = createSkillRecall({ most: 5 });
    const many = Array.from({ length: 7 }, (_, at) => skill(`invoice-${at}`, 'Invoices'));
    const count = (): number => recall.take('s', 'invoices?', many)?.match(/<skill /g)?.length ?? 0;
    expect([count(), count(), count()]).toEqual([5, 2, 0]);
    expect(createSkillRecall({ most: 0 }).take('s', 'invoices?', many)).toBeUndefined();
  });

  it('are none where only words without meaning agree', () => {
    const recall = createSkillRecall({ most: 5 });
    expect(recall.take('s', 'Can you tell me about the use of that?', all)).toBeUndefined();
    expect(recall.take('s', 'hello', all)).toBeUndefined();
    expect(recall.take('s', 'send invoices', [])).toBeUndefined();
  });

  it('say when their server has changed, and are cut when they are long', () => {
    const stale: KnownSkill = {
      ...skill('mcp/mail', 'Mail', 'x'.repeat(5_000)),
      freshness: { state: 'stale', reason: 'the server has version 2 now' },
    };
    const text = createSkillRecall({ most: 5 }).take('s', 'look into my mail', [stale]);
    expect(text).toContain('may be out of date');
    expect(text).toContain('read the whole with get_skill');
    expect(text?.length).toBeLessThan(4_400);
  });
});
