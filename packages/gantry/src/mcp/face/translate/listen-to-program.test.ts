import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { fakeSender } from './__fixtures__/fake-sender.ts';
import { createListenToProgram } from './listen-to-program.ts';

/** A stream of a client, and the program's side of it. */
const listen = async () => {
  const { sent, send } = fakeSender();
  const ending = new AbortController();
  const opening = createListenToProgram({ send, clock: fakeClock(), log: silentLog })({
    target: { name: 's', callTimeoutMs: 1_000, isDeclined: () => true } as never,
    client: 'ann',
    message: { jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params: { notifications: {} } },
    signal: ending.signal,
  });
  const tell = (method: string, params: JsonObject): void => sent[0]?.tell({ method, params });
  tell('notifications/subscriptions/acknowledged', { notifications: {} });
  return { response: await opening, sent, tell, end: () => ending.abort() };
};
const asking = (key: string): JsonObject => ({
  taskId: 't',
  status: 'input_required',
  inputRequests: { [key]: { method: 'elicitation/create', params: {} } },
});

describe('a stream of notices of a program', () => {
  it('declines a question once, however often it is asked', async () => {
    const { sent, tell, response, end } = await listen();
    for (const key of ['a', 'a', 'b', 'a']) tell('notifications/tasks', asking(key));
    end();
    const updates = sent.filter(({ method }) => method === 'tasks/update');
    expect(updates.map(({ params }) => params['inputResponses'])).toEqual([
      { a: { action: 'decline' } },
      { b: { action: 'decline' } },
    ]);
    expect(await response.text()).not.toContain('inputRequests');
  });

  it('gives up with its client what it has said in its place', async () => {
    const { sent, tell, end } = await listen();
    tell('notifications/tasks', asking('a'));
    sent[1]?.answer({});
    end();
    await Promise.resolve();
    await Promise.resolve();
    expect(sent[0]?.isAbandoned).toBe(true);
  });

  it('leaves out what has no name of a notice', async () => {
    const { tell, response, end } = await listen();
    tell('elicitation/create', { message: 'Your password?' });
    end();
    expect(await response.text()).not.toContain('password');
  });

  it('ends with the error that the program ends it with', async () => {
    const { sent, response } = await listen();
    const rpc = { code: -32_050, message: 'not any more' };
    sent[0]?.fail(new GantryError('execution_failed', 'not any more', { details: { rpc } }));
    expect(await response.text()).toContain('"error":{"code":-32050,"message":"not any more"}');
  });
});
