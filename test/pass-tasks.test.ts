import { fileURLToPath } from 'node:url';
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  CancelTaskResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  GetTaskResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import type { RawAnswer } from './fixtures/newer-request.ts';
import { sendNewer } from './fixtures/newer-request.ts';
import type { OlderTaskServer } from './fixtures/older-task-server.ts';
import { startOlderTaskServer } from './fixtures/older-task-server.ts';
import type { TaskServer } from './fixtures/task-server.ts';
import { startTaskServer } from './fixtures/task-server.ts';

type Members = Readonly<Record<string, unknown>>;
const extension = 'io.modelcontextprotocol/tasks';
const related = 'io.modelcontextprotocol/related-task';
const program = fileURLToPath(new URL('./fixtures/older-task-program.ts', import.meta.url));

const modernProgram = fileURLToPath(new URL('./fixtures/modern-program.ts', import.meta.url));

const open = new AsyncDisposableStack();
let folder: GantryFolder;
let older: OlderTaskServer;
let newer: TaskServer;
let base: string;
const tokens = new Map<string, string>();
const bearer = (who: string): { authorization: string } => ({ authorization: `Bearer ${tokens.get(who)}` });

interface Saying {
  readonly who?: string;
  /** What the client says that it can do; default all. */
  readonly can?: object | undefined;
}

beforeAll(async () => {
  folder = open.use(makeGantryFolder());
  older = open.use(await startOlderTaskServer());
  newer = open.use(await startTaskServer({ legacy: 'reject' }));
  folder.write('gantry.config.json', { mcp: { stdio: 'launch' }, serve: { requireToken: true } });
  folder.write('mcp.json', {
    mcpServers: {
      older: { url: older.url },
      newer: { url: newer.url },
      program: {
        command: process.execPath,
        args: [program],
        elicitation: { defaults: { box: 'usual', lid: 'plain' } },
      },
      modern: { command: process.execPath, args: [modernProgram] },
    },
  });
  for (const name of ['ann', 'ben']) tokens.set(name, (await folder.run(['tokens', 'create', name])).stdout.trim());
  base = open.use(await folder.serve()).url;
});
afterAll(() => open.disposeAsync());

describe.each(['older', 'program'])('a client of 2026 that knows tasks, at a server of 2025 (%s)', (server) => {
  const say = (method: string, params: Members, { who = 'ann', can }: Saying = {}): Promise<RawAnswer> =>
    sendNewer(`${base}/mcp/${server}`, method, params, { headers: bearer(who), can });
  const call = async (name: string, can?: object): Promise<Members> => {
    const { result, error } = await say('tools/call', { name, arguments: {} }, { can });
    expect(error).toBeUndefined();
    return result ?? {};
  };
  const state = async (taskId: unknown): Promise<Members> => {
    const { result, error } = await say('tasks/get', { taskId });
    return result ?? { error };
  };
  const until = async (status: string, taskId: unknown): Promise<Members> => {
    let seen: Members = {};
    await expect.poll(async () => (seen = await state(taskId))['status'], { timeout: 15_000 }).toBe(status);
    return seen;
  };

  it('is offered them', async () => {
    const { result } = await say('server/discover', {});
    expect(result).toMatchObject({ capabilities: { extensions: { [extension]: {} } } });
  });

  it.each([
    ['can be asked', undefined],
    ['cannot be asked', { extensions: { [extension]: {} } }],
  ])(
    'gets a task of a tool that runs as one only, and its result with its state, whether or not it %s',
    async (_what, can) => {
      const made = await call('research', can);
      expect(made).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 60 });
      expect(made).not.toHaveProperty('ttl');
      const done = await until('completed', made['taskId']);
      expect(done).toMatchObject({
        resultType: 'complete',
        taskId: made['taskId'],
        result: { content: [{ type: 'text', text: 'found' }] },
      });
    },
  );

  it('gets the result of a tool that need not run as a task, and of one that never does, at once', async () => {
    for (const [tool, text] of [
      ['maybe', 'found'],
      ['plain', 'plain'],
    ] as const)
      expect(await call(tool)).toMatchObject({ resultType: 'complete', content: [{ text }] });
  });

  it('gets a result that is an error as what the task has come to, and an error of the protocol as its failure', async () => {
    const stumbled = await until('completed', (await call('stumble'))['taskId']);
    expect(stumbled).toMatchObject({ result: { isError: true, content: [{ text: 'no luck' }] } });
    const crashed = await until('failed', (await call('crash'))['taskId']);
    expect(crashed).toMatchObject({ statusMessage: 'it broke', error: { code: expect.any(Number) as unknown } });
  });

  it('is asked in the state of the task, and answers one question after the other', async () => {
    const { taskId } = await call('ask');
    const first = await until('input_required', taskId);
    expect(first['inputRequests']).toMatchObject({
      q1: { method: 'elicitation/create', params: { message: 'Which box?' } },
    });
    expect((await state(taskId))['inputRequests']).toEqual(first['inputRequests']);
    const unknown = await say('tasks/update', { taskId, inputResponses: { q7: { action: 'decline' } } });
    expect(unknown.result).toMatchObject({ resultType: 'complete' });
    const inputResponses = { q1: { action: 'accept', content: { box: 'left' } } };
    expect((await say('tasks/update', { taskId, inputResponses })).result).toMatchObject({
      resultType: 'complete',
    });
    const second = await until('input_required', taskId);
    expect(second['inputRequests']).toMatchObject({ q2: { params: { message: 'Which lid?' } } });
    expect(second['inputRequests']).not.toHaveProperty('q1');
    await say('tasks/update', { taskId, inputResponses: { q2: { action: 'decline' } } });
    const done = await until('completed', taskId);
    expect(JSON.stringify(done['result'])).toMatch(/left.*decline/);
  });

  it('never hears of a question for a credential, which is declined', async () => {
    const done = await until('completed', (await call('ask_secret'))['taskId']);
    expect(JSON.stringify(done['result'])).toContain('decline');
  });

  it('cancels a task, and as often as it likes', async () => {
    const { taskId } = await call('forever');
    expect(await state(taskId)).toMatchObject({ status: 'working' });
    for (let count = 0; count < 2; count += 1)
      expect((await say('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
    expect(await state(taskId)).toMatchObject({ status: 'cancelled' });
  });

  it('finds neither tasks of others nor such as there never were', async () => {
    const { taskId } = await call('ask');
    await until('input_required', taskId);
    const refused = { code: -32_602, message: 'Task not found' };
    for (const id of [taskId, 'made up'])
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        expect((await say(method, { taskId: id, inputResponses: {} }, { who: 'ben' })).error).toEqual(refused);
    const notifications = { taskIds: [taskId] };
    const listened = await say('subscriptions/listen', { notifications }, { who: 'ben' });
    expect(listened.error).toEqual(refused);
    expect((await say('tasks/get', { taskId: 'made up' })).error).toEqual(refused);
    expect(await state(taskId)).toMatchObject({ status: 'input_required' });
  });

  it('is told of the state of tasks that it listens to', async () => {
    const { taskId } = await call('ask');
    await until('input_required', taskId);
    const ending = new AbortController();
    const told = listen(`${base}/mcp/${server}`, [taskId], ending.signal);
    expect((await told.next()).value).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId] } },
    });
    const decline = { action: 'decline' };
    await say('tasks/update', { taskId, inputResponses: { q1: decline, q2: decline } });
    const states: Members[] = [];
    for await (const { method, params } of told) {
      expect(method).toBe('notifications/tasks');
      const task = params as Members;
      states.push(task);
      if (task['status'] === 'input_required')
        await say('tasks/update', { taskId, inputResponses: { q2: { action: 'decline' } } });
      if (task['status'] === 'completed') break;
    }
    ending.abort();
    expect(states.every((task) => task['taskId'] === taskId)).toBe(true);
    expect(states.find(({ status }) => status === 'input_required')).toHaveProperty('inputRequests.q2');
    expect(states.at(-1)).toHaveProperty('result.content');
    const unknowing = await say('subscriptions/listen', { notifications: { taskIds: [taskId] } }, { can: {} });
    expect(unknowing.error).toMatchObject({ code: -32_021 });
  });

  it('makes none with a state of its own making', async () => {
    const before = older.tasks().length;
    const params = { name: 'forever', arguments: {}, requestState: 'gantry.parked.mine' };
    expect((await say('tools/call', params)).error).toMatchObject({ code: -32_602 });
    expect(older.tasks()).toHaveLength(before);
  });

  it('that does not know them gets the result of the task, and is asked in rounds', async () => {
    const forms = { elicitation: { form: {} } };
    expect(await call('research', {})).toMatchObject({ content: [{ text: 'found' }] });
    expect(await call('research', forms)).toMatchObject({ content: [{ text: 'found' }] });
    expect(await call('stumble', forms)).toMatchObject({ isError: true, content: [{ text: 'no luck' }] });
    let asked = await call('ask', forms);
    for (const [name, value] of [
      ['box', 'left'],
      ['lid', 'round'],
    ] as const) {
      expect(asked).toMatchObject({
        resultType: 'input_required',
        inputRequests: { q1: { params: { message: `Which ${name}?` } } },
      });
      const inputResponses = { q1: { action: 'accept', content: { [name]: value } } };
      const params = { name: 'ask', arguments: {}, inputResponses, requestState: asked['requestState'] };
      asked = (await say('tools/call', params, { can: forms })).result ?? {};
    }
    expect(JSON.stringify(asked['content'])).toMatch(/left.*round/);
  });
});

/** What a client of 2026 is told on a stream of notices. */
async function* listen(url: string, taskIds: readonly unknown[], signal: AbortSignal): AsyncGenerator<Members> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, extensions: { [extension]: {} } },
  };
  const method = 'subscriptions/listen';
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...bearer('ann'),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { notifications: { taskIds }, _meta: meta } }),
    signal,
  });
  let text = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data) as Members;
    }
  }
}

const connect = async (
  server: string,
  { who = 'ann', box }: { who?: string; box?: string } = {},
): Promise<OldClient> => {
  const client = new OldClient(
    { name: 't', version: '1' },
    { capabilities: box === undefined ? {} : { elicitation: {} } },
  );
  if (box !== undefined)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
      action: 'accept',
      content: { box: `${box} of ${JSON.stringify(params._meta)}` },
    }));
  const transport = new OldTransport(new URL(`${base}/mcp/${server}`), { requestInit: { headers: bearer(who) } });
  await client.connect(transport);
  open.defer(() => client.close());
  return client;
};
const make = async (client: OldClient, name: string, task: object = {}) =>
  (await client.request({ method: 'tools/call', params: { name, arguments: {}, task } }, CreateTaskResultSchema)).task;

it('a client of 2026 that knows no tasks hears of the progress of a task of a program', async () => {
  const client = new NewClient(
    { name: 't', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setRequestHandler('elicitation/create', async () => ({ action: 'decline' }));
  const requestInit = { headers: bearer('ann') };
  await client.connect(new NewTransport(new URL(`${base}/mcp/program`), { requestInit }));
  const steps: number[] = [];
  const onprogress = ({ progress }: { progress: number }): void => void steps.push(progress);
  const { content } = await client.callTool({ name: 'count', arguments: {} }, { onprogress });
  // The SDK tells of some twice, one after another, when a call has rounds.
  expect([content, [...new Set(steps)]]).toEqual([[{ type: 'text', text: 'counted' }], [1, 2]]);
  await client.close();
});

it.each([
  ['can be asked', { elicitation: { form: {} } }],
  ['cannot be asked', {}],
])('a client of 2026 that knows no tasks and %s has a task cancelled when it gives the call up', async (_what, can) => {
  const ending = new AbortController();
  const cancelled = (): number => older.tasks().filter(({ status }) => status === 'cancelled').length;
  const [before, made] = [cancelled(), older.tasks().length];
  const calling = sendNewer(
    `${base}/mcp/older`,
    'tools/call',
    { name: 'forever', arguments: {} },
    { headers: bearer('ann'), can, signal: ending.signal },
  );
  calling.catch(() => undefined);
  await expect.poll(() => older.tasks().length).toBe(made + 1);
  ending.abort();
  await expect.poll(cancelled).toBe(before + 1);
});

it('a client of 2026 that cannot be asked has what a task of a program asks answered by the rules of its entry', async () => {
  const say = (method: string, params: Members, can: object): Promise<RawAnswer> =>
    sendNewer(`${base}/mcp/program`, method, params, { headers: bearer('ann'), can });
  const params = { name: 'ask', arguments: {} };
  const can = { extensions: { [extension]: {} } };
  const { taskId } = (await say('tools/call', params, can)).result ?? {};
  await expect
    .poll(async () => JSON.stringify((await say('tasks/get', { taskId }, can)).result), { timeout: 15_000 })
    .toMatch(/usual.*plain/);
  const { result } = await say('tools/call', params, {});
  expect(JSON.stringify(result?.['content'])).toMatch(/usual.*plain/);
});

describe('a client of 2025 at a server of 2026 with tasks', () => {
  const newest = (): number => newer.tasks.length - 1;
  const unknown = /-32602.*not found/i;

  it('is offered them for every tool', async () => {
    const client = await connect('newer');
    expect(client.getServerCapabilities()?.tasks).toEqual({ requests: { tools: { call: {} } }, cancel: {} });
    const { tools } = await client.listTools();
    expect(tools.map(({ execution }) => execution?.taskSupport)).toEqual(tools.map(() => 'optional'));
  });

  it('makes a task, asks for it and waits for its result', async () => {
    const client = await connect('newer');
    const task = await make(client, 'research');
    expect(task).toMatchObject({ status: 'working', ttl: null, pollInterval: 20 });
    expect(task).not.toHaveProperty('ttlMs');
    const { taskId } = task;
    expect(await client.experimental.tasks.getTask(taskId)).toMatchObject({ taskId, status: 'working' });
    const waiting = client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    newer.complete(newest(), 'Bees dance.');
    expect(await waiting).toMatchObject({
      content: [{ type: 'text', text: 'Bees dance.' }],
      _meta: { [related]: { taskId } },
    });
    const over = await client.request({ method: 'tasks/get', params: { taskId } }, GetTaskResultSchema);
    expect(over).toMatchObject({ status: 'completed' });
    expect(over).not.toHaveProperty('result');
  });

  it('gets through its SDK what it would get of a server of its own generation', async () => {
    const client = await connect('newer');
    await client.listTools();
    const seen: string[] = [];
    for await (const message of client.experimental.tasks.callToolStream({ name: 'research', arguments: {} })) {
      seen.push(message.type);
      if (message.type === 'taskCreated') newer.complete(newest(), 'Done.');
      if (message.type === 'result') expect(message.result).toMatchObject({ content: [{ text: 'Done.' }] });
    }
    expect([seen[0], seen.at(-1)]).toEqual(['taskCreated', 'result']);
  });

  it('is asked what a task asks while it waits for the result', async () => {
    const client = await connect('newer', { box: 'left' });
    const { taskId } = await make(client, 'research');
    const requestedSchema = { type: 'object', properties: { box: { type: 'string' } } };
    const k1 = { method: 'elicitation/create', params: { message: 'Which box?', requestedSchema } };
    newer.set(newest(), { status: 'input_required', inputRequests: { k1 } });
    const waiting = client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    await newer.until('tasks/update', 1);
    expect(newer.tasks.at(-1)?.answers).toEqual([
      ['k1', { action: 'accept', content: { box: expect.stringContaining(taskId) as unknown } }],
    ]);
    newer.complete(newest(), 'asked');
    expect(await waiting).toMatchObject({ content: [{ text: 'asked' }] });
  });

  it('declines what nobody may answer, or what it cannot be asked', async () => {
    const client = await connect('newer', { box: 'left' });
    const mute = await connect('newer');
    const before = newer.seen.filter((method) => method === 'tasks/update').length;
    for (const [index, [one, field]] of [[client, 'password'] as const, [mute, 'box'] as const].entries()) {
      const { taskId } = await make(one, 'research');
      const requestedSchema = { type: 'object', properties: { [field]: { type: 'string' } } };
      const k1 = { method: 'elicitation/create', params: { message: 'Well?', requestedSchema } };
      newer.set(newest(), { status: 'input_required', inputRequests: { k1 } });
      const waiting = one.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
      await newer.until('tasks/update', before + index + 1);
      expect(newer.tasks.at(-1)?.answers).toEqual([['k1', { action: 'decline' }]]);
      newer.complete(newest(), 'fine');
      await waiting;
    }
  });

  it('hears of a failure as an error, and of a result that is one as a task that has failed', async () => {
    const client = await connect('newer');
    const { taskId } = await make(client, 'research');
    newer.set(newest(), { status: 'failed', error: { code: -32_050, message: 'out of bees', data: { left: 0 } } });
    expect(await client.experimental.tasks.getTask(taskId)).toMatchObject({ status: 'failed' });
    await expect(client.experimental.tasks.getTaskResult(taskId)).rejects.toMatchObject({
      code: -32_050,
      data: { left: 0 },
    });
    const { taskId: erring } = await make(client, 'research');
    const result = { isError: true, content: [{ type: 'text', text: 'no bees' }] };
    newer.set(newest(), { status: 'completed', result });
    expect(await client.experimental.tasks.getTask(erring)).toMatchObject({ status: 'failed' });
    expect(await client.experimental.tasks.getTaskResult(erring, CallToolResultSchema)).toMatchObject(result);
  });

  it('cancels a task once, and gets an error in the place of its result', async () => {
    const client = await connect('newer');
    const { taskId } = await make(client, 'research');
    const cancelled = await client.request({ method: 'tasks/cancel', params: { taskId } }, CancelTaskResultSchema);
    expect(cancelled).toMatchObject({ taskId, status: 'cancelled' });
    expect(newer.cancelled).toContain(taskId);
    await expect(client.experimental.tasks.cancelTask(taskId)).rejects.toThrow(/-32602.*already/);
    await expect(client.experimental.tasks.getTaskResult(taskId)).rejects.toThrow('cancelled');
  });

  it('gets a task that is over where the server answers at once', async () => {
    const client = await connect('newer');
    const other = await connect('newer');
    for (const [tool, status, text] of [
      ['quick', 'completed', 'ran at once'],
      ['clumsy', 'failed', 'dropped it'],
    ] as const) {
      const task = await make(client, tool, { ttl: 60_000 });
      const { taskId } = task;
      expect(task).toMatchObject({ status, ttl: 60_000 });
      // It is the client's, in whichever session.
      for (const one of [client, other]) {
        expect(await one.experimental.tasks.getTask(taskId)).toMatchObject({ taskId, status });
        expect(await one.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)).toMatchObject({
          content: [{ text }],
          _meta: { [related]: { taskId } },
        });
        await expect(one.experimental.tasks.cancelTask(taskId)).rejects.toThrow(/-32602.*already/);
      }
    }
  });

  it('finds neither tasks of others nor such as there never were', async () => {
    const client = await connect('newer');
    const other = await connect('newer', { who: 'ben' });
    const ids = [(await make(client, 'research')).taskId, (await make(client, 'quick')).taskId];
    for (const taskId of [...ids, 'made up', 'gantry.done.made-up']) {
      await expect(other.experimental.tasks.getTask(taskId)).rejects.toThrow(unknown);
      await expect(other.experimental.tasks.getTaskResult(taskId)).rejects.toThrow(unknown);
      await expect(other.experimental.tasks.cancelTask(taskId)).rejects.toThrow(unknown);
    }
    expect(newer.cancelled).not.toContain(ids[0]);
    newer.forget();
    await expect(client.experimental.tasks.getTask(ids[0] ?? '')).rejects.toThrow('Unknown task');
  });

  it('that wants no task gets the result of a tool that runs as one only', async () => {
    const client = await connect('newer');
    const before = newer.tasks.length;
    const calling = client.callTool({ name: 'strict', arguments: {} });
    await expect.poll(() => newer.tasks.length).toBe(before + 1);
    newer.complete(newest(), 'after all');
    expect(await calling).toMatchObject({ content: [{ text: 'after all' }] });
    // Others run as they always have.
    expect(await client.callTool({ name: 'research', arguments: {} })).toMatchObject({
      content: [{ text: 'ran at once' }],
    });
  });

  it('that gives such a call up has its task cancelled', async () => {
    const client = await connect('newer');
    const before = newer.tasks.length;
    const ending = new AbortController();
    const calling = client.callTool({ name: 'strict', arguments: {} }, undefined, { signal: ending.signal });
    await expect.poll(() => newer.tasks.length).toBe(before + 1);
    ending.abort();
    await expect(calling).rejects.toThrow();
    await expect.poll(() => newer.cancelled).toContain(newer.tasks.at(-1)?.taskId);
  });
});

describe('a client of 2025 at a program of 2026 with tasks', () => {
  it('makes a task and answers what it asks', async () => {
    const client = await connect('modern', { box: 'left' });
    const { taskId } = await make(client, 'long');
    const { content } = await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    expect(JSON.stringify(content)).toContain('left of');
  });

  it('that wants no task gets the result of a tool that runs as one only, and answers what that asks', async () => {
    const client = await connect('modern', { box: 'right' });
    expect(JSON.stringify(await client.callTool({ name: 'long', arguments: {} }))).toContain('right of');
  });

  it('gets a task that is over where the program answers at once', async () => {
    const client = await connect('modern');
    const { taskId, status } = await make(client, 'ask');
    expect(status).toBe('completed');
    expect(await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)).toMatchObject({
      content: [{ text: 'cannot be asked' }],
    });
  });
});

describe('a client of 2025 at a program of 2025', () => {
  it.each([
    ['that runs for it', 'left'],
    ['that all share', undefined],
  ])('%s makes tasks in its own words', async (_which, box) => {
    const client = await connect('program', box === undefined ? {} : { box });
    expect(client.getServerCapabilities()?.tasks).toEqual({ requests: { tools: { call: {} } }, cancel: {} });
    const { taskId } = await make(client, 'ask');
    const { content } = await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    // Where nobody can be asked, the rules of the entry answer.
    expect(JSON.stringify(content)).toContain(box ?? 'usual');
    const other = await connect('program', { who: 'ben' });
    await expect(other.experimental.tasks.getTask(taskId)).rejects.toThrow(/not found/);
    const { taskId: endless } = await make(client, 'forever');
    expect(await client.experimental.tasks.cancelTask(endless)).toMatchObject({ status: 'cancelled' });
  });
});
