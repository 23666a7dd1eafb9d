import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEvents } from '../packages/gantry/src/operations/http/read-events.ts';
import type { AskingServer } from './fixtures/asking-server.ts';
import { startAskingServer } from './fixtures/asking-server.ts';
import type { GantryFolder, ServingGantry } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { offeredTools, saidIn } from './fixtures/model-loop.ts';
import type { ModelRequest, ScriptedReply } from './fixtures/model-script.ts';
import type { ModelServer } from './fixtures/model-server.ts';
import { startModel } from './fixtures/model-server.ts';

let folder: GantryFolder;
let open = new AsyncDisposableStack();
beforeEach(() => {
  folder = makeGantryFolder();
});
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
  folder[Symbol.dispose]();
});

/** A gateway whose agent follows a script, with a server whose tools ask. What is not streamed is asked by the tool layer itself. */
const start = async (
  script: readonly (ScriptedReply | ((request: ModelRequest) => ScriptedReply))[],
  options: { readonly elicitation?: object; readonly alone?: (request: ModelRequest) => ScriptedReply } = {},
): Promise<{ gateway: ServingGantry; server: AskingServer; model: ModelServer; turns: () => ModelRequest[] }> => {
  const { elicitation = { mode: 'handback' }, alone = () => ({ text: 'A server.' }) } = options;
  let turn = 0;
  const model = open.use(
    await startModel((request) => {
      if (request.body['stream'] !== true) return alone(request);
      turn += 1;
      const reply = script[turn - 1] ?? { text: '(end of the script)' };
      return typeof reply === 'function' ? reply(request) : reply;
    }),
  );
  const server = open.use(await startAskingServer());
  folder.write('gantry.config.json', { models: { balanced: { endpoint: model.endpoint, modelId: 'scripted' } } });
  folder.write('mcp.json', { mcpServers: { asking: { url: server.url, elicitation } } });
  const gateway = open.use(await folder.serve());
  await fetch(`${gateway.url}/api/v1/servers/refresh`, { method: 'POST', body: '{}' });
  return { gateway, server, model, turns: () => model.requests.filter(({ body }) => body['stream'] === true) };
};
const ask = async ({ url }: ServingGantry, message: string): Promise<Record<string, unknown>> => {
  const response = await fetch(`${url}/api/v1/sessions/s1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message }),
  });
  return (await response.json()) as Record<string, unknown>;
};
const book = { calls: [{ name: 'asking__book', args: { show: 'Hamlet' } }] };

describe('an agent with servers', () => {
  it('is told about them behind its system prompt, and calls a tool by name that is not on its list', async () => {
    const { gateway, server, turns } = await start([
      { calls: [{ name: 'asking__login', args: {} }] },
      { text: 'It declined.' },
    ]);
    expect(await ask(gateway, 'sign in')).toMatchObject({ reply: 'It declined.' });
    expect(server.asked).toEqual(['login']);
    const [first, second] = turns();
    expect(saidIn(first!)).toMatch(/You are a careful assistant[^]*# MCP servers[^]*Today is/);
    expect(saidIn(first!).match(/# MCP servers/g)).toHaveLength(1);
    expect(offeredTools(first!)).toContain('mcp_find_tools');
    expect(offeredTools(first!)).not.toContain('asking__login');
    // Once a server was called, all its tools are on the list, in the same turn.
    expect(offeredTools(second!)).toEqual(expect.arrayContaining(['asking__login', 'asking__book']));
  });

  it('lists the same tools in the same bytes, turn after turn', async () => {
    const { gateway, turns } = await start([{ text: 'one' }, { text: 'two' }]);
    await ask(gateway, 'one');
    await ask(gateway, 'two');
    const [first, second] = turns();
    expect(JSON.stringify(first!.body['tools'])).toBe(JSON.stringify(second!.body['tools']));
  });

  it('gets a question that a call was parked with, and answers it itself', async () => {
    let asked = '';
    const { gateway, server } = await start([
      book,
      (request) => {
        asked = /q_[0-9a-f]{32}/.exec(saidIn(request))?.[0] ?? '';
        return { calls: [{ name: 'mcp_answer', args: { question_id: asked, answers: { seats: 3 } } }] };
      },
      { text: 'Booked three.' },
    ]);
    expect(await ask(gateway, 'book three seats for Hamlet')).toMatchObject({ reply: 'Booked three.' });
    expect(server.done).toEqual(['booked 3 for Hamlet']);
  });

  it('is told when a person answered a question, and tells its user what came of it', async () => {
    const { gateway, server, turns } = await start([
      book,
      { text: 'The hall asks how many seats.' },
      { text: 'Booked 4 seats.' },
    ]);
    const events = await fetch(`${gateway.url}/api/v1/sessions/s1/events`, {
      headers: { accept: 'text/event-stream' },
    });
    expect(await ask(gateway, 'book Hamlet')).toMatchObject({
      reply: 'The hall asks how many seats.',
      toolCalls: [{ name: 'asking__book', isError: false }],
    });
    expect(saidIn(turns()[1]!)).toContain('mcp_answer');
    const [listed, questions] = await folder.json(['questions', 'list', '--json']);
    expect([listed, questions]).toMatchObject([
      0,
      { questions: [{ session: 'session/s1', message: 'How many seats?' }] },
    ]);
    const { id } = (questions as { questions: { id: string }[] }).questions[0]!;
    await folder.json(['questions', 'answer', id, '--answers', '{"seats": 4}', '--json']);
    expect(server.done).toEqual(['booked 4 for Hamlet']);
    const replies: string[] = [];
    for await (const { type, data } of readEvents(events.body!)) {
      if (type === 'turn-end') replies.push((JSON.parse(data) as { reply: string }).reply);
      if (replies.length === 2) break;
    }
    expect(replies).toEqual(['The hall asks how many seats.', 'Booked 4 seats.']);
    expect(saidIn(turns()[2]!)).toContain('[Notice of the system, not from the user]');
    expect(saidIn(turns()[2]!)).toContain('booked 4 for Hamlet');
  });

  it('lets a small model answer what the call itself says, where nobody was to be asked', async () => {
    const { gateway, server } = await start([book, { text: 'Booked.' }], {
      elicitation: { mode: 'auto', responder: 'llm' },
      alone: (request) =>
        saidIn(request).includes('How many seats?')
          ? { text: '{"action": "accept", "content": {"seats": 2}}' }
          : { text: 'A server.' },
    });
    expect(await ask(gateway, 'book two seats for Hamlet')).toMatchObject({ reply: 'Booked.' });
    expect(server.done).toEqual(['booked 2 for Hamlet']);
  });
});

describe('a scheduled task with a model', () => {
  it('is a turn of the agent', async () => {
    const { gateway, turns } = await start([{ text: 'Nothing new.' }]);
    const added = await fetch(`${gateway.url}/api/v1/schedule`, {
      method: 'POST',
      body: JSON.stringify({ name: 'mail', at: new Date(Date.now() + 2000).toISOString(), prompt: 'Check mail' }),
    });
    expect(added.status).toBe(200);
    const ended = async (): Promise<unknown> => {
      const events = await fetch(`${gateway.url}/api/v1/schedule/mail`);
      return events.json();
    };
    await expect
      .poll(ended, { timeout: 15_000 })
      .toMatchObject({ history: [{ status: 'done', text: 'Nothing new.' }] });
    expect(saidIn(turns()[0]!)).toContain('[Scheduled task, not from the user] Check mail');
  });
});
