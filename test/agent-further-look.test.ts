import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { JudgeSettings } from '../packages/gantry/src/agent/loop/loop-run.ts';
import { defineTool } from '../packages/gantry/src/tool/define-tool.ts';
import type { Tool } from '../packages/gantry/src/tool/executor.ts';
import { failedOutcome, textOutcome } from '../packages/gantry/src/tool/outcome.ts';
import { toRegistration } from '../packages/gantry/src/tool/registration.ts';
import type { ScriptedLoop, ScriptedLoopOptions } from './fixtures/model-loop.ts';
import { saidIn, startLoop } from './fixtures/model-loop.ts';
import type { ModelScript } from './fixtures/model-server.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});
const start = async (script: ModelScript, options: ScriptedLoopOptions = {}): Promise<ScriptedLoop> =>
  open.use(await startLoop(script, { tools: [look, send, fail], ...options }));

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  annotations: { readOnlyHint: true },
  input: z.strictObject({ at: z.string().optional() }),
  execute: ({ at = 'it' }) => `saw ${at}`,
});
const sent: string[] = [];
const send: Tool = {
  registration: toRegistration({
    name: 'mail__send',
    description: 'Sends.',
    source: 'mcp:mail',
    target: { server: 'mail', tool: 'send' },
  }),
  executor: {
    execute: async ({ name }) => {
      sent.push(name);
      return textOutcome('sent');
    },
  },
};
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  annotations: { readOnlyHint: true },
  execute: () => failedOutcome('execution_failed', 'the disk is full'),
});

/** A small model that says these things in turn, and what it was asked. */
const judge = (said: readonly string[], settings: Partial<JudgeSettings> = {}) => {
  const asked: { readonly system: string; readonly prompt: string }[] = [];
  const complete: JudgeSettings['complete'] = async ({ system, prompt }) => {
    asked.push({ system, prompt });
    return said[asked.length - 1] ?? 'COMPLETE';
  };
  return { asked, settings: { complete, completionTries: 0, followsUp: true, guardsActions: false, ...settings } };
};
const turn = { origin: 'person', text: 'what is new with Ada?' } as const;
const answer = { text: 'Ada has moved to Bern, as she wrote on Monday.' };
const call = (name: string, args: object = {}) => ({ calls: [{ name, args }] });
const more = 'MORE: look whether Ada is in the calendar.';

describe('a further look', () => {
  it('is taken once behind a complete answer, when the small model finds one worth it, and stands below the answer', async () => {
    const small = judge([more, more]);
    const loop = await start([answer, call('look', { at: 'Friday' }), { text: 'She comes on Friday.' }], {
      judge: small.settings,
    });
    const result = await loop.run('hi', { turn });
    expect(result).toMatchObject({ text: `${answer.text}\n\nShe comes on Friday.`, endedBy: 'answer' });
    expect(result.steps).toHaveLength(1);
    expect(saidIn(loop.model.requests[1]!)).toContain('look whether Ada is in the calendar.');
    expect(small.asked).toHaveLength(1);
    expect(small.asked[0]?.prompt).toContain('what is new with Ada?');
    expect(loop.events).toContainEqual({ type: 'again', reason: 'one further look is taken' });
  });

  it.each(['NONE', 'none.', 'MORE:', 'I would say it is fine.', ''])('is not taken when it says %j', async (said) => {
    const loop = await start([answer], { judge: judge([said]).settings });
    expect((await loop.run('hi', { turn })).text).toBe(answer.text);
  });

  it('is neither asked for by default, nor where nobody asked, nor while work goes on, nor behind a second try', async () => {
    const off = judge([more], { followsUp: undefined });
    const first = await start([answer], { judge: off.settings });
    await first.run('hi', { turn });
    const small = judge([more]);
    const loop = await start([answer], { judge: small.settings });
    await loop.run('hi');
    for (const origin of ['notice', 'schedule'] as const) await loop.run('hi', { turn: { ...turn, origin } });
    expect([off.asked, small.asked]).toEqual([[], []]);
    const tried = judge(['INCOMPLETE: where?', more], { completionTries: 1 });
    const second = await start([{ text: 'Done.' }, answer], { judge: tried.settings });
    expect((await second.run('hi', { turn })).text).toBe(answer.text);
    expect(tried.asked).toHaveLength(1);
  });

  it('may not write, whatever the small model wants', async () => {
    sent.length = 0;
    const loop = await start([answer, call('mail__send'), { text: 'NOTHING' }], { judge: judge([more]).settings });
    const { text, steps } = await loop.run('hi', { turn });
    expect(text).toBe(answer.text);
    expect(steps[0]?.calls[0]).toMatchObject({ status: 'failed', result: expect.stringContaining('Not run') });
    expect(sent).toEqual([]);
  });

  it.each<readonly [string, ModelScript]>([
    ['has nothing to add', [answer, { text: 'Nothing.' }]],
    ['says nothing', [answer, { text: '' }]],
    ['fails with its model', [answer, { status: 500, text: 'down' }]],
    ['fails in its calls', [answer, ...Array.from({ length: 6 }, () => call('fail'))]],
    ['never comes to an end', (_request, number) => (number === 0 ? answer : call('look', { at: `${number}` }))],
  ])('leaves the answer as it was when it %s', async (_what, script) => {
    const loop = await start(script, { judge: judge([more]).settings, limits: { maxToolIterations: 10 } });
    expect(await loop.run('hi', { turn })).toMatchObject({ text: answer.text, endedBy: 'answer' });
  });

  it('ends with its turn', async () => {
    const controller = new AbortController();
    const loop = await start(
      (_request, number) => {
        if (number > 0) controller.abort(new Error('enough'));
        return answer;
      },
      { judge: judge([more]).settings },
    );
    await expect(loop.run('hi', { turn, signal: controller.signal })).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('a turn that reached its limit of calls', () => {
  const stop: ModelScript = (request, number) => {
    if (!JSON.stringify(request.body).includes('"tools"')) return { text: 'Two of four were read so far.' };
    return number < 6 ? call('look', { at: `${number}` }) : { text: 'All four are read.' };
  };

  it('is asked whether it is complete, and may try once more', async () => {
    const small = judge(['INCOMPLETE: two are left'], { completionTries: 1, followsUp: false });
    const loop = await start(stop, { judge: small.settings, limits: { maxToolIterations: 3 } });
    const result = await loop.run('read all four', { turn });
    expect(result).toMatchObject({ text: 'All four are read.', endedBy: 'answer' });
    expect(small.asked[0]?.prompt).toContain('Two of four were read so far.');
  });

  it.each(['COMPLETE', 'nonsense'])('ends with its look back when it is told %s', async (said) => {
    const small = judge([said, more], { completionTries: 1 });
    const loop = await start(stop, { judge: small.settings, limits: { maxToolIterations: 3 } });
    const result = await loop.run('read all four', { turn });
    expect(result).toMatchObject({ text: 'Two of four were read so far.', endedBy: 'iterations' });
    // What was cut short gets no further look.
    expect(small.asked).toHaveLength(1);
  });

  it('does not try for ever', async () => {
    const small = judge(
      Array.from({ length: 9 }, () => 'INCOMPLETE: more'),
      { completionTries: 1 },
    );
    const never: ModelScript = (request, number) =>
      JSON.stringify(request.body).includes('"tools"')
        ? call('look', { at: `${number}` })
        : { text: 'So far so good.' };
    const loop = await start(never, { judge: small.settings, limits: { maxToolIterations: 3 } });
    const { endedBy, steps } = await loop.run('read all', { turn });
    expect([endedBy, steps.length]).toEqual(['iterations', 6]);
  });
});

it('tells who only listens what a turn ended in, also where the model did not say it', async () => {
  const slow = defineTool({
    name: 'slow',
    description: 'Slow.',
    execute: () => failedOutcome('timeout', 'The page timed out.'),
  });
  const loop = await start([call('slow'), call('slow')], { tools: [slow] });
  const { text } = await loop.run('hi');
  expect(loop.events.at(-1)).toEqual({ type: 'text', text });
});
