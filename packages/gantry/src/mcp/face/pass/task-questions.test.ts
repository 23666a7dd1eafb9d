import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { withoutTaskQuestions } from './task-questions.ts';

const target = {
  name: 's',
  isDeclined: (params: unknown) => isObject(params) && params['message'] === 'Your password?',
};
const asks = (message: string): JsonObject => ({ method: 'elicitation/create', params: { message } });
const secret = { secret: asks('Your password?') };
const declined = { secret: { action: 'decline' } };

describe('the questions of a task that nobody may answer', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['itself', { taskId: 't', status: 'input_required', inputRequests: secret }, { taskId: 't', status: 'working' }],
    ['as a member', { task: { taskId: 't', inputRequests: secret } }, { task: { taskId: 't' } }],
    [
      'beside others',
      { taskId: 't', inputRequests: { ...secret, box: asks('Which box?') } },
      { taskId: 't', inputRequests: { box: asks('Which box?') } },
    ],
  ])('are taken out where a result or notice is the task %s', (_how, carrier, heard) => {
    for (const isRound of [true, false]) {
      const judged = withoutTaskQuestions(target, carrier, { isRound });
      expect(judged).toEqual({ carrier: heard, declined: [{ taskId: 't', responses: declined }] });
    }
  });

  it('are those of the task that was asked about, where the answer does not say', () => {
    const judged = withoutTaskQuestions(target, { inputRequests: secret }, { isRound: true, taskId: 'asked' });
    expect(judged).toEqual({ carrier: {}, declined: [{ taskId: 'asked', responses: declined }] });
  });

  it('stay in a result that is about no task, as they are those of a round, and are taken out of a notice', () => {
    const carrier = { inputRequests: secret };
    expect(withoutTaskQuestions(target, carrier, { isRound: true })).toEqual({ carrier, declined: [] });
    expect(withoutTaskQuestions(target, carrier, { isRound: false })).toEqual({ carrier: {}, declined: [] });
  });

  it.each([{ Task: { taskId: 't', inputRequests: secret } }, { taskId: 't', InputRequests: secret }])(
    'cannot hide in another case (%j)',
    (carrier) => {
      expect(() => withoutTaskQuestions(target, carrier, { isRound: false })).toThrow();
    },
  );
});
