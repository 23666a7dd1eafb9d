import { expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { fakeSender } from './__fixtures__/fake-sender.ts';
import { createRelayToNewerProgram } from './relay-to-newer-program.ts';

const secret = { secret: { method: 'elicitation/create', params: {} } };
const knowsTasks = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

/** Relays a request to a program that answers so; nobody may answer any of its questions. */
const relay = async (
  method: string,
  params: JsonObject,
  answers: Parameters<typeof fakeSender>[0],
  signal = new AbortController().signal,
) => {
  const { sent, send } = fakeSender(answers);
  const clock = fakeClock();
  const sealing = { seal: (text: string) => text, open: (text: string) => text };
  const target = { name: 's', isDeclined: () => true, isAllowed: () => true, maxCallTimeoutMs: 4_000 };
  const mcpReq = { signal, envelope: knowsTasks, requestState: () => undefined, notify: async () => {} };
  const result = createRelayToNewerProgram({ sealing, send, clock })({
    target: target as never,
    client: 'ann',
    method,
    params,
    ctx: { mcpReq } as never,
  });
  return { result, sent, clock };
};

it('declines the questions of a task that a call brings beside it, and makes the call once', async () => {
  const { result, sent } = await relay('tools/call', { name: 'a' }, ({ method }) =>
    method === 'tools/call' ? { resultType: 'task', taskId: 't', status: 'input_required', inputRequests: secret } : {},
  );
  expect(await result).toEqual({ resultType: 'task', taskId: 't', status: 'working' });
  expect(sent.map(({ method, params }) => [method, params['taskId']])).toEqual([
    ['tools/call', undefined],
    ['tasks/update', 't'],
  ]);
});

it('takes them out of the state of a task, however it is said', async () => {
  const states = [
    { inputRequests: secret },
    { task: { inputRequests: secret } },
    { taskId: 't', inputRequests: secret },
  ];
  for (const state of states) {
    const { result, sent } = await relay('tasks/get', { taskId: 't' }, ({ method }) =>
      method === 'tasks/get' ? { ...state } : {},
    );
    expect(JSON.stringify(await result)).not.toContain('secret');
    expect(sent[1]?.params).toEqual({ taskId: 't', inputResponses: { secret: { action: 'decline' } } });
  }
});

it('goes on in rounds where a call asks, for as long as a call may take in all', async () => {
  let rounds = 0;
  const { result, clock } = await relay('tools/call', { name: 'a' }, () => {
    rounds += 1;
    return rounds < 3 ? { resultType: 'input_required', inputRequests: secret, requestState: 'half' } : undefined;
  });
  const outcome = expect(result).rejects.toMatchObject({ code: 'timeout' });
  await clock.advance(4_000);
  await outcome;
  expect(rounds).toBe(3);
});

it('cancels a task that the program makes when its client has gone already', async () => {
  const ending = new AbortController();
  const { result, sent } = await relay(
    'tools/call',
    { name: 'a' },
    ({ method }) => (method === 'tasks/cancel' ? {} : undefined),
    ending.signal,
  );
  const outcome = expect(result).rejects.toThrow();
  ending.abort();
  sent[0]?.answer({ resultType: 'task', taskId: 't', status: 'working' });
  await outcome;
  expect(sent.map(({ method, params }) => [method, params['taskId']])).toEqual([
    ['tools/call', undefined],
    ['tasks/cancel', 't'],
  ]);
});
