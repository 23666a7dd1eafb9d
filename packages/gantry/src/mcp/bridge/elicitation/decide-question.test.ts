import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../kernel/log.ts';
import type { Log, LogFacts } from '../../../kernel/log.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { Decision } from './decide-question.ts';
import { createQuestionDecider } from './decide-question.ts';
import type { OpenCall } from './open-call.ts';
import { createOpenCall } from './open-call.ts';
import { parseElicitationPolicy } from './policy.ts';
import type { ElicitationAnswer, ElicitationRequest, ElicitationResponder } from './responder.ts';

interface Scene {
  readonly policy?: object;
  readonly answer?: JsonObject | ElicitationResponder['answer'] | undefined;
  readonly calls?: number;
  readonly canHandBack?: boolean;
  readonly defaultResponder?: string | undefined;
  readonly earlier?: number;
}

const setUp = (scene: Scene = {}) => {
  const { policy: block = {}, answer, calls: count = 1, canHandBack = false, earlier = 0 } = scene;
  const { policy } = parseElicitationPolicy(block, { scope: 'server', server: 'mail' });
  const asked: ElicitationRequest[] = [];
  const warnings: (readonly [LogFacts, string])[] = [];
  const log: Log = { ...silentLog, warn: (facts, message) => void warnings.push([facts, message]) };
  const clock = fakeClock();
  const responder: ElicitationResponder = {
    answer: async (request) => {
      asked.push(request);
      return typeof answer === 'function' ? await answer(request) : { action: 'accept', content: answer ?? {} };
    },
  };
  const calls: OpenCall[] = Array.from({ length: count }, (_, index) =>
    createOpenCall({
      server: 'mail',
      tool: `send${index === 0 ? '' : index}`,
      args: { to: 'a@example.org', apiKey: 'hunter2' },
      namespace: `session/${index + 1}`,
      policy,
      earlier: { asked: earlier, rounds: [] },
    }),
  );
  const withdrawal = new AbortController();
  const decider = createQuestionDecider({
    responders: new Map([['llm', responder]]),
    defaultResponder: 'defaultResponder' in scene ? scene.defaultResponder : 'llm',
    clock,
    log,
  });
  const ask = (params: unknown): Promise<Decision> =>
    decider(params, { calls, canHandBack, signal: withdrawal.signal });
  const [call] = calls as [OpenCall, ...OpenCall[]];
  return { ask, asked, calls, call, clock, log, warnings, withdrawal };
};

const form = (properties: object, required: readonly string[] = [], message = 'Which one?') => ({
  message,
  requestedSchema: { type: 'object', properties, required },
});
const mailbox = form({ mailbox: { type: 'string', enum: ['work', 'home'] } }, ['mailbox']);
const text = { type: 'string' };

describe('a question', () => {
  it('is answered by the responder of the host, when nothing else applies', async () => {
    const { ask, asked, call } = setUp({ answer: { mailbox: 'work' } });
    expect(await ask(mailbox)).toEqual({ action: 'accept', content: { mailbox: 'work' } });
    expect(asked).toMatchObject([
      {
        server: 'mail',
        message: 'Which one?',
        fields: [{ name: 'mailbox', type: 'choice', required: true }],
        settledNames: [],
        isAmbiguous: false,
        calls: [{ tool: 'send', namespace: 'session/1', args: { to: 'a@example.org', apiKey: '[redacted]' } }],
      },
    ]);
    expect(call.rounds).toEqual([
      { message: 'Which one?', fields: ['mailbox'], action: 'accept', answeredFields: ['mailbox'] },
    ]);
  });

  it.each([[undefined], [null], ['text'], [[]]])('without parameters (%j) is declined', async (params) => {
    const { ask, call } = setUp();
    expect(await ask(params)).toEqual({ action: 'decline', reason: 'it has no parameters' });
    expect(call.rounds).toHaveLength(1);
  });

  it('that belongs to no open call is declined', async () => {
    expect(await setUp({ calls: 0 }).ask(mailbox)).toMatchObject({ action: 'decline' });
  });

  it.each(['autoo', 'decline', 'off', 'OFF'])('is declined in mode "%s", without a slot', async (mode) => {
    const { ask, asked, call } = setUp({ policy: { mode, defaults: { mailbox: 'work' } } });
    expect(await ask(mailbox)).toMatchObject({ action: 'decline' });
    expect([asked.length, call.asked, call.rounds.length]).toEqual([0, 0, 1]);
  });

  it.each([
    ['url', 'browser'],
    ['URL', 'neither a form nor a page'],
    ['page', 'neither a form nor a page'],
    [7, 'neither a form nor a page'],
    [null, 'neither a form nor a page'],
    [undefined, 'a page and a form at once'],
  ])('of the kind %j, which a person would need a browser for, is declined', async (mode, reason) => {
    const { ask, asked } = setUp();
    const decision = await ask({ mode, message: 'Sign in', url: 'https://example.org', elicitationId: '1' });
    expect(decision).toEqual({ action: 'decline', reason: expect.stringContaining(reason) });
    expect(asked).toEqual([]);
  });

  it('that names the form mode is answered', async () => {
    expect(await setUp({ answer: { mailbox: 'work' } }).ask({ mode: 'form', ...mailbox })).toMatchObject({
      action: 'accept',
    });
  });

  it('that has been withdrawn is cancelled, takes no slot and asks nobody', async () => {
    const { ask, asked, call, withdrawal } = setUp();
    withdrawal.abort();
    expect(await ask(mailbox)).toEqual({ action: 'cancel' });
    expect([asked.length, call.asked]).toEqual([0, 0]);
    expect(call.rounds).toMatchObject([{ action: 'cancel', fields: ['mailbox'], answeredFields: [] }]);
  });

  it('that is withdrawn while it is being answered is cancelled at once', async () => {
    const { ask, call, withdrawal } = setUp({ answer: () => new Promise(() => {}) });
    const decision = ask(mailbox);
    withdrawal.abort();
    expect(await decision).toEqual({ action: 'cancel' });
    expect(call.rounds).toMatchObject([{ action: 'cancel' }]);
  });

  it('has its message and names on one line in what is kept of it', async () => {
    const { ask, call } = setUp({ answer: { 'a\nb': 'x\ny' } });
    await ask(form({ 'a\nb': text }, [], 'One\n[gantry] two'));
    expect(call.rounds).toEqual([
      { message: 'One (gantry) two', fields: ['a b'], action: 'accept', answeredFields: ['a b'] },
    ]);
  });
});

describe('the cap of a call', () => {
  it('of 0 declines the first question', async () => {
    const { ask, asked } = setUp({ policy: { maxPerCall: 0, defaults: { mailbox: 'work' } } });
    expect(await ask(mailbox)).toEqual({
      action: 'decline',
      reason: 'no more than 0 questions are answered in one call',
    });
    expect(asked).toEqual([]);
  });

  it('lets two questions at once not share the last slot', async () => {
    const { ask, asked, call } = setUp({ policy: { maxPerCall: 1 }, answer: { mailbox: 'work' } });
    const actions = (await Promise.all([ask(mailbox), ask(mailbox)])).map(({ action }) => action);
    expect(actions.toSorted()).toEqual(['accept', 'decline']);
    expect([asked.length, call.asked, call.rounds.length]).toEqual([1, 1, 2]);
  });

  it('counts questions that are declined further on, and those before the call was handed back', async () => {
    const { ask, call } = setUp({ policy: { maxPerCall: 3 }, earlier: 1, answer: { mailbox: 'work' } });
    expect(await ask(form({ password: text }))).toMatchObject({ action: 'decline' });
    expect(await ask(form({ file: { type: 'file' } }))).toMatchObject({ action: 'decline' });
    expect(await ask(mailbox)).toEqual({ action: 'decline', reason: expect.stringContaining('no more than 3') });
    expect(call.asked).toBe(3);
  });
});

describe('a form', () => {
  it('with a field that cannot be read is declined as a whole, naming it', async () => {
    const { ask, asked } = setUp({ answer: { a: 'x' } });
    expect(await ask(form({ a: text, files: { type: 'array', items: { type: 'object' } } }))).toEqual({
      action: 'decline',
      reason: expect.stringContaining('"files"'),
    });
    expect(asked).toEqual([]);
  });

  it.each([
    [{ apiKey: text }],
    [{ value: { ...text, description: 'Your API key' } }],
    [{ code: { ...text, title: 'One-time code' } }],
    [{ cardNumber: { type: 'integer' } }],
    [{ note: text, ACCOUNTID: text }],
  ])('with a credential or a denied field (%j) is declined before anything tries to answer it', async (properties) => {
    const policy = {
      deniedFields: ['accountId'],
      mode: 'handback',
      defaults: Object.fromEntries(Object.keys(properties).map((name) => [name, 'x'])),
    };
    const { ask, asked } = setUp({ policy, canHandBack: true });
    const refused = Object.keys(properties).at(-1);
    expect(await ask(form(properties))).toEqual({ action: 'decline', reason: expect.stringContaining(`"${refused}"`) });
    expect(asked).toEqual([]);
  });

  it('with a field for a number of tokens is answered', async () => {
    const { ask } = setUp({ answer: { maxTokens: 5 } });
    expect(await ask(form({ maxTokens: { type: 'integer' } }))).toMatchObject({ action: 'accept' });
  });
});

describe("the operator's defaults", () => {
  it('answer alone when they cover every field, whatever the case of their names', async () => {
    const policy = { defaults: { MAILBOX: 'work', confirm: true, other: 1 }, mode: 'handback', responder: 'gone' };
    const { ask, asked } = setUp({ policy, canHandBack: true });
    expect(await ask(form({ mailbox: text, confirm: { type: 'boolean' } }, ['confirm']))).toEqual({
      action: 'accept',
      content: { mailbox: 'work', confirm: true },
    });
    expect(asked).toEqual([]);
  });

  it.each([
    [{ type: 'boolean' }, 'true', true],
    [{ type: 'integer' }, '5', 5],
    [{ type: 'number' }, ' 1.5 ', 1.5],
    [{ type: 'string' }, 'true', 'true'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, ['b'], ['b']],
  ])('for %j may be texts that spell the value: %j', async (schema, given, value) => {
    const { ask } = setUp({ policy: { defaults: { x: given } } });
    expect(await ask(form({ x: schema }))).toEqual({ action: 'accept', content: { x: value } });
  });

  it.each([
    [{ type: 'string', enum: ['home'] }, 'work'],
    [{ type: 'integer' }, '5.5'],
    [{ type: 'integer' }, 'five'],
    [{ type: 'boolean' }, '"true"'],
    [{ type: 'boolean' }, 1],
    [{ type: 'string' }, 5],
  ])('for %j that do not fit (%j) are dropped with a warning that does not hold the value', async (schema, given) => {
    const { ask, warnings, asked } = setUp({ policy: { defaults: { 'x\ny': given } }, answer: {} });
    expect(await ask(form({ 'x\ny': schema, z: text }))).toMatchObject({ action: 'decline' });
    expect(warnings).toEqual([[{ server: 'mail', fields: ['x y'] }, expect.stringContaining('do not fit')]]);
    expect(asked).toHaveLength(1);
  });

  it('win over the responder, which is told their names only', async () => {
    const { ask, asked } = setUp({
      policy: { defaults: { mailbox: 'work' } },
      answer: { mailbox: 'home', subject: 'x' },
    });
    expect(await ask(form({ mailbox: text, subject: text }))).toEqual({
      action: 'accept',
      content: { mailbox: 'work', subject: 'x' },
    });
    expect(asked).toMatchObject([{ settledNames: ['mailbox'], fields: [{ name: 'subject' }] }]);
    expect(JSON.stringify(asked)).not.toContain('work');
  });

  it('do not give a bare confirmation', async () => {
    const { ask } = setUp({ policy: { responder: 'gone', defaults: { confirm: true } } });
    expect(await ask(form({}))).toMatchObject({ action: 'decline' });
  });
});

describe('a decision', () => {
  const confirm = { type: 'boolean' };

  it.each<[string, object, readonly string[]]>([
    ['a required one', { confirm, note: text }, ['confirm']],
    ['a required choice of yes and no', { confirm: { type: 'string', enum: ['yes', 'no'] }, note: text }, ['confirm']],
    ['one that is all that is asked', { confirm }, []],
  ])('is never made by a responder: %s declines the form', async (_what, properties, required) => {
    const { ask, asked } = setUp({ answer: { confirm: true, note: 'x' } });
    expect(await ask(form(properties, required))).toEqual({
      action: 'decline',
      reason: '"confirm" is for a person to decide',
    });
    expect(asked).toEqual([]);
  });

  it('that is optional is left out, whatever the responder says, and the rest is answered', async () => {
    const { ask, asked } = setUp({ answer: { confirm: true, note: 'x' } });
    expect(await ask(form({ confirm, note: text }, ['note']))).toEqual({ action: 'accept', content: { note: 'x' } });
    expect(asked[0]?.fields.map(({ name }) => name)).toEqual(['note']);
  });

  it('that a default has made is sent', async () => {
    const { ask } = setUp({ policy: { defaults: { confirm: true } }, answer: { note: 'x' } });
    expect(await ask(form({ confirm, note: text }, ['confirm']))).toEqual({
      action: 'accept',
      content: { confirm: true, note: 'x' },
    });
  });

  it('offers more than yes and no: then it is data', async () => {
    const { ask } = setUp({ answer: { when: 'later' } });
    const decision = await ask(form({ when: { type: 'string', enum: ['yes', 'no', 'later'] } }, ['when']));
    expect(decision).toEqual({ action: 'accept', content: { when: 'later' } });
  });
});

describe('handing back', () => {
  const policy = { mode: 'handback', defaults: { subject: 'Hello' } };
  const question = form({ subject: text, confirm: { type: 'boolean' } }, ['confirm']);

  it('gives the form and what is settled, takes the slot and is no round yet', async () => {
    const { ask, asked, call } = setUp({ policy, canHandBack: true });
    expect(await ask(question)).toMatchObject({
      action: 'hand-back',
      form: { message: 'Which one?', fields: [{ name: 'subject' }, { name: 'confirm' }] },
      settled: { subject: 'Hello' },
    });
    expect([asked.length, call.asked, call.rounds.length]).toEqual([0, 1, 0]);
  });

  it('also takes a bare confirmation', async () => {
    expect(await setUp({ policy, canHandBack: true }).ask(form({}))).toMatchObject({
      action: 'hand-back',
      settled: {},
    });
  });

  it.each<[string, Scene]>([
    ['the run cannot answer', { policy, canHandBack: false }],
    ['several calls could be meant', { policy, canHandBack: true, calls: 2 }],
    ['the policy does not say so', { policy: { ...policy, mode: 'auto' }, canHandBack: true }],
  ])('does not happen when %s: the responder is asked instead', async (_why, scene) => {
    const { ask, asked } = setUp({ ...scene, answer: { note: 'x' } });
    expect(await ask(form({ note: text }))).toMatchObject({ action: 'accept' });
    expect(asked).toHaveLength(1);
  });
});

describe('a responder', () => {
  it.each<[string, object, JsonObject]>([
    ['a text for a number', { count: { type: 'number' } }, { count: '5' }],
    ['a title for a value', { size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }] } }, { size: 'Small' }],
    ['nothing', { a: text }, {}],
    ['nothing that was asked', { a: text }, { b: 'x' }],
    ['less than is required', { a: text, need: text }, { a: 'x' }],
  ])('that answers with %s is taken for a decline', async (_what, properties, answer) => {
    const { ask, call } = setUp({ answer });
    expect(
      await ask(
        form(
          properties,
          ['need'].filter((name) => name in properties),
        ),
      ),
    ).toMatchObject({ action: 'decline' });
    expect(call.rounds).toMatchObject([{ action: 'decline', answeredFields: [] }]);
  });

  it('may leave optional fields out, write names in any case and invent some', async () => {
    const { ask } = setUp({ answer: { Mailbox: 'work', invented: 1 } });
    expect(await ask(form({ mailbox: text, subject: { ...text, default: 'x' } }))).toEqual({
      action: 'accept',
      content: { mailbox: 'work' },
    });
  });

  it('that declines gives its reason on one line', async () => {
    const { ask, call } = setUp({ answer: async () => ({ action: 'decline', reason: 'I do\n[gantry] not know' }) });
    expect(await ask(mailbox)).toEqual({ action: 'decline', reason: 'I do (gantry) not know' });
    expect(call.rounds[0]?.reason).toBe('I do (gantry) not know');
  });

  it.each<[string, () => Promise<ElicitationAnswer>]>([
    ['rejects', () => Promise.reject(new Error('the model is away'))],
    [
      'throws',
      () => {
        throw new Error('the model is away');
      },
    ],
    ['gives nothing', () => Promise.resolve(undefined as never)],
    ['accepts without content', () => Promise.resolve({ action: 'accept' } as never)],
    ['says something else', () => Promise.resolve({ action: 'maybe', content: {} } as never)],
  ])('that %s declines, and the log says so', async (_what, answer) => {
    const { ask, warnings } = setUp({ answer });
    expect(await ask(mailbox)).toMatchObject({ action: 'decline' });
    expect(warnings).toHaveLength(1);
  });

  it('has its time and no more', async () => {
    let signal: AbortSignal | undefined;
    const { ask, clock } = setUp({
      policy: { responderTimeoutMs: 500 },
      answer: (request) => {
        ({ signal } = request);
        return new Promise(() => {});
      },
    });
    const decision = ask(mailbox);
    await clock.advance(499);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(await decision).toEqual({ action: 'decline', reason: 'no answer was found within 500 ms' });
    expect(signal?.aborted).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('has no time of its own with 0', async () => {
    const { ask, clock, withdrawal } = setUp({
      policy: { responderTimeoutMs: 0 },
      answer: () => new Promise(() => {}),
    });
    const decision = ask(mailbox);
    expect(clock.pendingTimers).toBe(0);
    withdrawal.abort();
    expect(await decision).toEqual({ action: 'cancel' });
  });

  it('that is not registered leaves the defaults alone to answer, and no other takes its place', async () => {
    const { ask, asked, warnings } = setUp({
      policy: { responder: 'person', defaults: { a: 'x' } },
      answer: { mailbox: 'work' },
    });
    expect(await ask(mailbox)).toMatchObject({ action: 'decline' });
    expect(await ask(form({ a: text }))).toMatchObject({ action: 'accept' });
    expect(asked).toEqual([]);
    expect(warnings).toEqual([[{ server: 'mail', responder: 'person' }, expect.stringContaining('does not exist')]]);
  });

  it('that reads conversations is never the default of the host', async () => {
    const { ask, asked, warnings } = setUp({ defaultResponder: 'conversation' });
    expect(await ask(mailbox)).toMatchObject({ action: 'decline' });
    expect(asked).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  it('may give a bare confirmation, when a host has one that asks a person', async () => {
    expect(await setUp({ answer: {} }).ask(form({}))).toEqual({ action: 'accept', content: {} });
  });
});

describe('a question that may belong to several calls', () => {
  it('is counted for and recorded on each, and the responder is told', async () => {
    const { ask, asked, calls } = setUp({ calls: 2, answer: { mailbox: 'work' } });
    await ask(mailbox);
    expect(asked).toMatchObject([{ isAmbiguous: true, calls: [{ tool: 'send' }, { tool: 'send1' }] }]);
    expect(calls.map((call) => [call.asked, call.rounds.length])).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  it('takes no slot of any call when one has none left', async () => {
    const { ask, calls } = setUp({ calls: 2, policy: { maxPerCall: 1 }, answer: { mailbox: 'work' } });
    calls[1]?.takeSlot();
    expect(await ask(mailbox)).toMatchObject({ action: 'decline' });
    expect(calls.map(({ asked }) => asked)).toEqual([0, 1]);
  });
});

it('keeps fifty rounds of a call at most, so that a server cannot fill the memory', async () => {
  const { ask, call } = setUp({ policy: { mode: 'decline' } });
  for (let count = 0; count < 60; count += 1) await ask(mailbox);
  expect(call.rounds).toHaveLength(50);
});
