import { describe, expect, it } from 'vitest';
import type { ModelBehavior } from '../models/model-behavior.ts';
import type { FinalAnswer } from './nudges.ts';
import { nudgeFor } from './nudges.ts';

const asked = (text: string, more: Partial<FinalAnswer> = {}, behavior: ModelBehavior = {}): string | undefined =>
  nudgeFor({ text, hasTools: true, calls: 0, endedInError: false, given: () => 'Please look.', ...more }, behavior);
const all: ModelBehavior = {
  nudgeHallucinatedActions: true,
  nudgeLeakedSyntax: true,
  nudgeUnexpectedCjk: true,
  nudgeGivingUp: true,
};

describe('what a model is asked again for', () => {
  it.each<[string, string, Partial<FinalAnswer>, ModelBehavior, string]>([
    ['announces a call', 'Now I will look:', {}, {}, 'announced something'],
    ['trails off', 'Let me see...', {}, {}, 'announced something'],
    ['claims an action without a call', 'I have sent the mail.', {}, all, 'no tool was called'],
    ['claims a schedule without a call', 'I scheduled it for noon.', {}, all, 'no tool was called'],
    ['names an id that it cannot know', 'Your booking reference is AB-48213.', {}, all, 'id or number'],
    ['writes a call as text', 'tool_call_name: add', {}, all, 'wrote a call'],
    ['leaks its template', 'Sure.<|im_end|>', {}, all, 'wrote a call'],
    ['falls into Chinese', 'The price is 5 元左右.', {}, all, 'Chinese, Japanese or Korean'],
    ['falls into Korean without tools', 'Yes, 물론.', { hasTools: false }, all, 'Chinese, Japanese or Korean'],
    ['gives up after a failed call', 'I was unable to access it.', { calls: 1, endedInError: true }, {}, 'gave up'],
  ])('one that %s', (_what, text, more, behavior, said) => {
    expect(asked(text, more, behavior)).toContain(said);
    expect(asked(text, more, behavior)).toContain('Automatic check, not from the user');
  });

  it.each<[string, string, Partial<FinalAnswer>, ModelBehavior]>([
    ['just answers', 'It is 5.', {}, all],
    ['has called something', 'I have sent the mail, id 48213.', { calls: 1 }, all],
    ['may claim what it likes by its profile', 'I have sent the mail, id is AB-48213.', {}, {}],
    ['repeats an id that it was told', 'The order id is AB-48213.', { given: () => 'Where is AB-48213?' }, all],
    ['may leak by its profile', 'Sure.<|im_end|>', {}, {}],
    ['may write Chinese by its profile', '好的', {}, {}],
    ['answers in the language of the user', '好的', { given: () => '请看一下' }, all],
    ['was asked for a translation', 'こんにちは', { given: () => 'What is "hello" in Japanese?' }, all],
    [
      'may give up by its profile',
      'I was unable to access it.',
      { calls: 1, endedInError: true },
      { nudgeGivingUp: false },
    ],
    ['gives up although nothing failed', 'I was unable to access it.', { calls: 1 }, {}],
    ['has no tools to call', 'Now I will look:', { hasTools: false }, all],
  ])('not one that %s', (_what, text, more, behavior) => {
    expect(asked(text, more, behavior)).toBeUndefined();
  });
});
