import { describe, expect, it } from 'vitest';
import { fakeClock } from '../packages/gantry/src/testing/fake-clock.ts';
import { startBridge } from './fixtures/bridge-harness.ts';
import { startOlderAskingServer } from './fixtures/older-servers.ts';

const session = { caller: 'model', namespace: 'session/s1', answersQuestions: true } as const;

describe('a server of the older protocol that asks over its session', () => {
  it('is answered by the defaults of its entry, in the call', async () => {
    await using server = await startOlderAskingServer();
    await using t = await startBridge({ old: { url: server.url, elicitation: { defaults: { mailbox: 'work' } } } });
    const text = await t.text('old', 'send', {}, { context: session });
    expect(text).toContain('sent with {"action":"accept","content":{"mailbox":"work"}}');
    expect(text).toContain('Which mailbox?');
  });

  it('is declined by what nobody answers, and the result tells the agent which fields to give', async () => {
    await using server = await startOlderAskingServer();
    await using t = await startBridge({ old: { url: server.url, elicitation: { mode: 'decline' } } });
    const text = await t.text('old', 'send', {}, { context: session });
    expect(text).toContain('sent with {"action":"decline"}');
    expect(text).toContain('mailbox');
  });

  it('is not handed back, whatever the entry says: the responder answers', async () => {
    await using server = await startOlderAskingServer();
    const responder = { answer: async () => ({ action: 'accept' as const, content: { MAILBOX: 'home' } }) };
    await using t = await startBridge(
      { old: { url: server.url, elicitation: { mode: 'handback', responder: 'scripted' } } },
      { responders: new Map([['scripted', responder]]) },
    );
    const text = await t.text('old', 'send', {}, { context: session });
    expect(text).toContain('sent with {"action":"accept","content":{"mailbox":"home"}}');
    expect(await t.bridge.questions.list()).toEqual([]);
  });

  it('is not told that it may ask while nothing could answer it', async () => {
    await using server = await startOlderAskingServer();
    await using t = await startBridge({ old: { url: server.url } });
    expect(await t.text('old', 'send', {}, { context: session })).toContain('does not support');
  });

  it('may take longer than the call for an answer of a person: the clock of the call stands still meanwhile', async () => {
    await using server = await startOlderAskingServer();
    const clock = fakeClock();
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const person = {
      answer: async () => {
        asked.resolve();
        await answered.promise;
        return { action: 'accept' as const, content: { mailbox: 'home' } };
      },
    };
    const elicitation = { responder: 'person', responderTimeoutMs: 0 };
    await using t = await startBridge(
      { old: { url: server.url, elicitation, toolTimeoutMs: 1_000 } },
      { clock, responders: new Map([['person', person]]) },
    );
    await t.bridge.ready();
    const sent = t.text('old', 'send', {}, { context: session });
    await asked.promise;
    await clock.advance(120_000);
    answered.resolve();
    expect(await sent).toContain('"mailbox":"home"');
  });

  it('is counted for every call that is open on it, because it does not say which one asks', async () => {
    await using server = await startOlderAskingServer();
    await using t = await startBridge({
      old: { url: server.url, elicitation: { maxPerCall: 1, defaults: { mailbox: 'work' } } },
    });
    const waiting = t.text('old', 'wait', {}, { context: session });
    await server.waiting;
    const asked = await t.text('old', 'send', {}, { context: session });
    expect(asked).toContain('"accept"');
    server.release();
    expect(await waiting).toContain('Which mailbox?');
  });

  it('is not tried again when it fails after a question', async () => {
    await using server = await startOlderAskingServer();
    await using t = await startBridge({ old: { url: server.url, elicitation: { mode: 'decline' } } });
    const text = await t.text('old', 'crash', {}, { context: session });
    expect(server.crashed).toBe(1);
    expect(text).toContain('mailbox');
  });
});
