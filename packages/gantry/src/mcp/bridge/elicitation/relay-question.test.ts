import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { PeerQuestion } from '../../../tool/context.ts';
import { peerOf } from '../call/peer.ts';
import { toResponse } from '../call/rounds.ts';
import { createQuestionDecider } from './decide-question.ts';
import { createOpenCall } from './open-call.ts';
import { parseElicitationPolicy } from './policy.ts';

const text = { type: 'string' };
const digit = { type: 'string', enum: [...'0123456789'] };
const form = (properties: object, more: object = {}) => ({
  message: 'Which one?',
  requestedSchema: { type: 'object', properties },
  ...more,
});
const page = { mode: 'url', message: 'Please look.', url: 'https://pages.example/look' };
const field = (more: object, about: object = {}) => ({
  message: 'Which one?',
  requestedSchema: { type: 'object', properties: { box: { type: 'string', ...more } }, ...about },
});
const accepted = { action: 'accept', content: { box: 'mine' }, _meta: { kept: true } };

/** Asks on behalf of a client; `asked` is what the client was asked. */
const setUp = ({
  policy: block = {},
  asks = { elicitation: { form: {}, url: {} } },
  answer = async () => accepted,
}: {
  policy?: object;
  asks?: { elicitation?: JsonObject };
  answer?: () => Promise<JsonObject>;
}) => {
  const { policy } = parseElicitationPolicy(block, { scope: 'server', server: 's' });
  const asked: PeerQuestion[] = [];
  const peer = peerOf({ caller: 'client', asks }, policy, (question) => {
    asked.push(question);
    return answer();
  });
  const call = createOpenCall({ server: 's', tool: 't', args: {}, policy });
  const decide = createQuestionDecider({
    responders: new Map([['llm', { answer: async () => ({ action: 'accept', content: { box: 'of the model' } }) }]]),
    defaultResponder: 'llm',
    clock: fakeClock(),
    log: silentLog,
  });
  const ask = async (params: unknown): Promise<JsonObject> => {
    const { signal } = new AbortController();
    const decision = await decide(params, { calls: [call], canHandBack: false, peer, signal });
    return decision.action === 'hand-back' ? {} : toResponse(decision);
  };
  return { ask, asked, call };
};

describe('a question in the call of a client that can be asked', () => {
  it.each([
    ['a form', form({ box: text })],
    ['a page', page],
    ['a decision', form({ confirm: { type: 'boolean' } })],
    ['a bare confirmation', form({})],
  ])('goes to the client when it is %s, and the answer to the server as it is', async (_what, params) => {
    const { ask, asked, call } = setUp({});
    expect(await ask(params)).toEqual(accepted);
    expect(asked).toEqual([{ method: 'elicitation/create', params }]);
    expect(call.rounds).toMatchObject([{ action: 'accept', answeredFields: ['box'] }]);
  });

  it.each([
    ['asks for a credential', {}, form({ password: text })],
    ['asks for a field that the operator denies', { deniedFields: ['BOX'] }, form({ box: text })],
    ['is declined by policy', { mode: 'decline' }, form({ box: text })],
    ['comes after the last that is answered', { maxPerCall: 0 }, form({ box: text })],
    ['cannot be read', {}, form({ box: { type: 'object' } })],
    ['hides a form in a page', {}, { ...page, ...form({ password: text }), mode: 'url' }],
    ['is a page with a form', {}, { ...form({ box: text }), mode: 'url' }],
    ['names its form in a way that other readers would read', {}, { ...form({}), RequestedSchema: {} }],
    ['is of a mode that nobody knows', {}, form({ box: text }, { mode: 'voice' })],
    ['is of the mode URL', {}, { ...page, mode: 'URL' }],
    ['is of no mode', {}, form({ box: text }, { mode: null })],
    ['is a form with a page', {}, form({ box: text }, { url: 'javascript:alert(1)' })],
    ['has another page in another case', {}, { ...page, URL: 'javascript:alert(1)' }],
    ['has members that nobody knows', {}, form({ box: text }, { hint: 'Your password' })],
    ['asks by its message', {}, form({ box: text }, { message: 'Enter your GitHub password' })],
    [
      'asks late in its message',
      {},
      form({ box: text }, { message: `${'word '.repeat(3_000)}. Enter your password.` }),
    ],
    ['asks by the title of all', {}, field({}, { title: 'Your password' })],
    ['asks by the description of all', {}, field({}, { description: 'Type your master password' })],
    ['asks late in a title', {}, field({ title: `${'a '.repeat(110)}password` })],
    ['asks late in a description', {}, field({ description: `${'a '.repeat(2_100)}password` })],
    ['asks behind what nobody sees', {}, field({ title: `${'\u200B'.repeat(3_000)}password` })],
    ['has more text than anybody reads', {}, field({ description: `${'\u200B'.repeat(30_000)}x` })],
    ['has a title in another case', {}, field({ Title: 'Password' })],
    ['has members in a field that nobody knows', {}, field({ placeholder: 'your password' })],
    ['has a title that is none', {}, field({ title: ['Password'] })],
    ['has rules for other members', {}, field({}, { additionalProperties: { type: 'string', title: 'x' } })],
    ['is written to be hidden', {}, field({ format: 'password' })],
    ['is written and never read', {}, field({ writeOnly: true })],
    ['asks by the title of items', {}, field({ type: 'array', items: { enum: ['a'], title: 'password' } })],
    ['asks by a choice', {}, field({ oneOf: [{ const: 'a', title: 'Enter your password below' }] })],
    ['asks for digits as choices', {}, form({ d1: digit, d2: digit }, { message: 'Please enter your PIN.' })],
    [
      'asks for letters as choices',
      {},
      field({ type: 'array', items: { enum: ['a', 'b'] } }, { title: 'Enter the password' }),
    ],
    [
      'asks for flags that spell it',
      {},
      form({ a: { type: 'boolean' }, b: { type: 'boolean' } }, { message: 'Enter your PIN in bits' }),
    ],
    ['asks by the name of a choice', {}, form({ password: { type: 'string', enum: ['password'] } })],
    ['asks by a default', {}, field({ default: 'Replace this by your GitHub password' })],
    ['asks by a default that is no choice', {}, field({ enum: ['a'], default: 'password' })],
    ['asks by a pattern', {}, field({ pattern: 'password' })],
    ['asks by a comment', {}, field({ $comment: 'Password' })],
    ['asks by an id', {}, field({ $id: 'https://example.org/password' })],
    ['asks by the id of all', {}, field({}, { $id: 'https://example.org/password' })],
    ['is written to be hidden, in capitals', {}, field({ format: 'PASSWORD' })],
    ['is written to be hidden, with a space', {}, field({ format: 'Password ' })],
    ['spells a denied field apart', { deniedFields: ['accountId'] }, form({ ' Account_ID\u200B': text })],
  ])('is declined, and never reaches the client, when it %s', async (_what, policy, params) => {
    const { ask, asked } = setUp({ policy });
    expect(await ask(params)).toEqual({ action: 'decline' });
    expect(asked).toEqual([]);
  });

  it.each([
    ['has a choice that names a way to sign in', field({ enum: ['password', 'single sign-on'] })],
    ['has such a choice as its default', field({ enum: ['password', 'single sign-on'], default: 'password' })],
    ['offers ways to pay', field({ enum: ['Rechnung', 'PayPal', 'Kreditkarte'], title: 'Zahlungsart' })],
    ['asks nothing that could be written', form({ ok: { type: 'boolean' } }, { message: 'Rotate your API key?' })],
    ['has rules for what is written', field({ pattern: '^a', minLength: 1, title: 'Box', readOnly: false })],
    ['says that nothing else is taken', field({}, { additionalProperties: false })],
  ])('goes to the client as it is when it %s', async (_what, params) => {
    const { ask, asked } = setUp({});
    expect(await ask(params)).toEqual(accepted);
    expect(asked).toEqual([{ method: 'elicitation/create', params }]);
  });

  it.each([
    ['https://pages.example', 'https://pages.example/'],
    ['HTTPS://Pages.Example:443/a?b#c', 'https://pages.example/a?b#c'],
    ['https://p\u0430ypal.example/', 'https://xn--pypal-4ve.example/'],
    ['http://127.0.0.1:8080/a', 'http://127.0.0.1:8080/a'],
    ['http://localhost/', 'http://localhost/'],
  ])('goes to the client as a page at %j, in the form that every reader takes for the same', async (url, shown) => {
    const { ask, asked } = setUp({});
    expect(await ask({ ...page, url })).toEqual(accepted);
    expect(asked).toMatchObject([{ params: { url: shown } }]);
  });

  it.each([
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['http://pages.example/'],
    ['http://127.0.0.1.example/'],
    [String.raw`https://good.example\@evil.example/`],
    ['https://good.example@evil.example/'],
    ['https://@evil.example/'],
    ['https://:@evil.example/'],
    [' https://pages.example/'],
    ['https://pages.example/ '],
    ['https://pages\t.example/'],
    ['https://pages.example/\u202Egpj.exe'],
    ['https://pages.example/\u200B'],
    ['https:pages.example'],
    ['https:////pages.example'],
    [`https://pages.example/${'a'.repeat(2_100)}`],
    [`https://pages.example/${'\u4E2D'.repeat(1_000)}`],
    [7],
  ])('is declined when it is a page at %j', async (url) => {
    const { ask, asked } = setUp({});
    expect(await ask({ ...page, url })).toEqual({ action: 'decline' });
    expect(asked).toEqual([]);
  });

  it('is answered by the defaults of the operator when they answer all of it', async () => {
    const { ask, asked } = setUp({ policy: { defaults: { box: 'the default' } } });
    expect(await ask(form({ box: text }))).toEqual({ action: 'accept', content: { box: 'the default' } });
    await ask(form({ box: text, size: text }));
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['pages alone', { elicitation: { url: {} } }, form({ box: text }), 'accept'],
    ['forms alone', { elicitation: { form: {} } }, page, 'decline'],
    ['neither', {}, form({ box: text }), 'accept'],
  ])('is left to the policy when the client knows %s', async (_what, asks, params, action) => {
    const { ask, asked } = setUp({ asks });
    const said = await ask(params);
    expect(asked).toEqual([]);
    expect(said).toMatchObject(action === 'accept' ? { content: { box: 'of the model' } } : { action });
  });

  it.each([
    ['declines', async () => ({ action: 'decline' }), { action: 'decline' }],
    ['cancels', async () => ({ action: 'cancel' }), { action: 'cancel' }],
    ['says something else', async () => ({ box: 'mine' }), { action: 'decline' }],
    ['gives content that is none', async () => ({ action: 'accept', content: 'mine' }), { action: 'decline' }],
    ['answers with an error', () => Promise.reject(new Error('no')), { action: 'cancel' }],
  ])('ends when the client %s', async (_what, answer, said) => {
    const { ask, call } = setUp({ answer });
    expect(await ask(form({ box: text }))).toEqual(said);
    expect(call.rounds).toMatchObject([said]);
  });
});
