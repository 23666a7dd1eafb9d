import { describe, expect, it } from 'vitest';
import { GantryError } from '../kernel/errors.ts';
import type { ToolCall } from '../tool/executor.ts';
import type { CallContext } from '../tool/context.ts';
import type { Outcome } from '../tool/outcome.ts';
import { failedOutcome, textOutcome } from '../tool/outcome.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import type { ActionOptions, TaskRun } from './run-action.ts';
import { createRunAction, noModelText } from './run-action.ts';

const run: TaskRun = {
  taskName: 'report',
  description: 'Write "it".',
  isSystemTask: false,
  workspace: 'w',
  namespace: 'patrol/w/report',
  scheduledAtMs: 0,
  signal: new AbortController().signal,
};
const make = (options: Partial<ActionOptions> = {}, outcome: Outcome = textOutcome('sent')) => {
  const calls: (ToolCall & { readonly context: CallContext })[] = [];
  const clock = fakeClock();
  const invoker: ActionOptions['invoker'] = {
    invoke: async (call, context) => {
      calls.push({ ...call, context });
      return outcome;
    },
  };
  return { act: createRunAction({ invoker, clock, ...options }), calls, clock };
};

describe('createRunAction', () => {
  it('calls the tool of the task as a model, in the session of the run', async () => {
    const { act, calls } = make({ runTurn: async () => ({ status: 'done', text: 'turn' }) });
    const action = {
      tool: 'notify',
      arguments: { text: '{task}: {description}', to: ['{task}', 3, { deep: '{task}' }] },
    };
    expect(await act(run, action)).toEqual({ status: 'done', text: 'sent' });
    expect(calls).toMatchObject([
      {
        name: 'notify',
        arguments: { text: 'report: Write "it".', to: ['report', 3, { deep: 'report' }] },
        context: { caller: 'model', namespace: 'patrol/w/report', workspace: 'w' },
      },
    ]);
  });

  it('prefers a turn to the configured action, and has that where there is no model', async () => {
    const action = { tool: 'notify' };
    const withModel = make({ action, runTurn: async ({ description }) => ({ status: 'done', text: description }) });
    expect(await withModel.act(run, undefined)).toEqual({ status: 'done', text: 'Write "it".' });
    const without = make({ action });
    expect(await without.act(run, undefined)).toEqual({ status: 'done', text: 'sent' });
    expect(without.calls).toMatchObject([{ name: 'notify', arguments: undefined }]);
  });

  it('fails with a text that says what is missing where there is neither', async () => {
    expect(await make().act(run, undefined)).toEqual({ status: 'failed', text: noModelText });
  });

  it.each<[Outcome, string, string]>([
    [failedOutcome('execution_failed', 'no connection'), 'failed', 'no connection'],
    [
      {
        status: 'parked',
        handle: { kind: 'task', id: '1', expiresAt: '' },
        parts: [{ type: 'text', text: 'goes on' }],
      },
      'parked',
      'goes on',
    ],
  ])('tells how a call ended: %j', async (outcome, status, text) => {
    expect(await make({}, outcome).act(run, { tool: 'x' })).toEqual({ status, text });
  });

  it('turns what a turn throws into a failure', async () => {
    const { act } = make({
      runTurn: () => Promise.reject(new GantryError('execution_failed', 'The model is down.')),
    });
    expect(await act(run, undefined)).toEqual({ status: 'failed', text: 'The model is down.' });
  });

  it('ends a turn that goes on for more than an hour, also one that does not listen', async () => {
    const { act, clock } = make({ runTurn: () => new Promise(() => {}) });
    const result = act(run, undefined);
    await clock.advance(3_600_000);
    expect(await result).toMatchObject({ status: 'failed', text: 'The run of "report" was ended after an hour.' });
  });
});
