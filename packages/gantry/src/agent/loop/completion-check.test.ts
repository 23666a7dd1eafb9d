import { describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { silentLog } from '../../kernel/log.ts';
import type { TurnCall } from '../../memory/conversation-turn.ts';
import type { ModelPort } from '../../tool/model-port.ts';
import type { AnsweredTurn } from './completion-check.ts';
import { checkCompletion, reasonToCheck } from './completion-check.ts';

const turn = (change: Partial<AnsweredTurn> = {}): AnsweredTurn => ({
  asked: 'What is the capital of France?',
  isRelayed: false,
  answer: 'The capital of France is Paris.',
  steps: [],
  hasActed: false,
  hasSpawned: false,
  ...change,
});
const call: TurnCall = { id: 'c', name: 'read', arguments: { path: 'x' }, status: 'done', result: 'text' };
const called = [{ text: '', calls: [call] }];

describe('an answer is worth a look', () => {
  it.each<[string, Partial<AnsweredTurn>]>([
    ['when it passes on a result that came late', { isRelayed: true }],
    ['when something was changed', { hasActed: true, steps: called }],
    ['when it says only that it is done', { answer: 'Done.', steps: called }],
    ['when it promises without a call', { answer: "I'll look that up and come back to you." }],
    ['when it claims an action without a call', { answer: 'I have sent the mail to everybody.' }],
    [
      'when an instruction led to no call',
      { asked: 'Please send the report to Anna', answer: 'The report is about May.' },
    ],
    [
      'when a request in a question led to no call',
      { asked: 'Could you send it?', answer: 'The report is about May.' },
    ],
    ['when it is very short', { answer: 'It is fine so.' }],
  ])('%s', (_when, change) => {
    expect(reasonToCheck(turn(change))).toBeTypeOf('string');
  });

  it.each<[string, Partial<AnsweredTurn>]>([
    ['when a question was answered', {}],
    ['when calls only read', { steps: called, asked: 'find the file', answer: 'The file is in the folder notes.' }],
    ['when work goes on in the background', { hasSpawned: true, hasActed: true, answer: 'Done.' }],
    ['when it only offers', { answer: 'Paris. Let me know if you need anything else.' }],
  ])('not %s', (_when, change) => {
    expect(reasonToCheck(turn(change))).toBeUndefined();
  });

  it('found in one pass over a message, on any of its lines', () => {
    const startMs = performance.now();
    expect(reasonToCheck(turn({ asked: `x${'\n'.repeat(100_000)}x` }))).toBeUndefined();
    expect(performance.now() - startMs).toBeLessThan(500);
    expect(reasonToCheck(turn({ asked: 'Here it is.\n\n  Send it to Anna' }))).toBeTypeOf('string');
  });
});

describe('the check', () => {
  const prompts: string[] = [];
  const check = (said: string | Error, change: Partial<AnsweredTurn> = {}, signal = new AbortController().signal) => {
    prompts.length = 0;
    const complete: ModelPort['complete'] = async ({ prompt, tier }) => {
      prompts.push(`${tier}: ${prompt}`);
      if (said instanceof Error) throw said;
      return said;
    };
    return checkCompletion(turn(change), { complete, namespace: 'session/1', signal, log: silentLog });
  };

  it('asks the low model once, with the request, the calls and the answer', async () => {
    await check('COMPLETE', { asked: 'Tidy up', answer: 'Done.', steps: called });
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toMatch(/^low: [^]*Tidy up[^]*read\(\{"path":"x"\}\) done: text[^]*Done\./);
    await check('INCOMPLETE');
    expect(prompts).toEqual([]);
  });

  it.each([
    'INCOMPLETE: the mail was not sent',
    '**Incomplete** - the mail was not sent',
    'incomplete\nthe mail was not sent',
  ])('gives what to ask for when the model says %j', async (said) => {
    const again = await check(said, { answer: 'Done.', asked: 'Send the "mail"' });
    expect(again).toContain('internal check');
    expect(again).toContain("Send the 'mail'");
    expect(again).toContain('the mail was not sent');
  });

  it.each(['COMPLETE', 'Complete, nothing is incomplete.', 'I think so', '', 'The answer is INCOMPLETE'])(
    'lets the answer stand when the model says %j',
    async (said) => {
      expect(await check(said, { answer: 'Done.' })).toBeUndefined();
    },
  );

  it('lets the answer stand when the model fails, and ends when the turn does', async () => {
    expect(await check(new GantryError('model_failed', 'down'), { answer: 'Done.' })).toBeUndefined();
    const ended = check(new GantryError('cancelled', 'stopped'), { answer: 'Done.' }, AbortSignal.abort());
    await expect(ended).rejects.toMatchObject({ code: 'cancelled' });
  });
});
