import { describe, expect, it } from 'vitest';
import type { AgentGateway, ModelTurn } from './fixtures/agent-gateway.ts';
import { agentLab, isTurn, turnsOf } from './fixtures/agent-gateway.ts';
import type { AskingServer } from './fixtures/asking-server.ts';
import { startAskingServer } from './fixtures/asking-server.ts';
import { offeredTools, saidIn } from './fixtures/model-loop.ts';
import type { ModelRequest, ScriptedReply } from './fixtures/model-script.ts';

const lab = agentLab();

/** A gateway whose agent follows a script, with a server whose tools ask. */
const start = async (
  script: readonly ModelTurn[],
  options: { readonly elicitation?: object; readonly alone?: (request: ModelRequest) => ScriptedReply } = {},
): Promise<{ gateway: AgentGateway; server: AskingServer; turns: () => ModelRequest[] }> => {
  const { elicitation = { mode: 'handback' }, alone } = options;
  const model = await lab.model(turnsOf(script, alone));
  const server = await lab.use(startAskingServer());
  const gateway = await lab.serve(
    { models: { balanced: { endpoint: model.endpoint, modelId: 'scripted' } } },
    { asking: { url: server.url, elicitation } },
  );
  return { gateway, server, turns: () => model.requests.filter(isTurn) };
};
const book = { calls: [{ name: 'asking__book', args: { show: 'Hamlet' } }] };

describe('an agent with servers', () => {
  it('is told about them behind its system prompt, and calls a tool by name that is not on its list', async () => {
    const { gateway, server, turns } = await start([
      { calls: [{ name: 'asking__login', args: {} }] },
      { text: 'It declined.' },
    ]);
    expect(await gateway.ask('sign in')).toMatchObject({ reply: 'It declined.' });
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
    await gateway.ask('one');
    await gateway.ask('two');
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
    expect(await gateway.ask('book three seats for Hamlet')).toMatchObject({ reply: 'Booked three.' });
    expect(server.done).toEqual(['booked 3 for Hamlet']);
  });

  it('is told when a person answered a question, and tells its user what came of it', async () => {
    const { gateway, server, turns } = await start([
      book,
      { text: 'The hall asks how many seats.' },
      { text: 'Booked 4 seats.' },
    ]);
    const { texts } = await gateway.replies(2);
    expect(await gateway.ask('book Hamlet')).toMatchObject({
      reply: 'The hall asks how many seats.',
      toolCalls: [{ name: 'asking__book', isError: false }],
    });
    expect(saidIn(turns()[1]!)).toContain('mcp_answer');
    const [listed, questions] = await lab.folder.json(['questions', 'list', '--json']);
    expect([listed, questions]).toMatchObject([
      0,
      { questions: [{ session: 'session/s1', message: 'How many seats?' }] },
    ]);
    const { id } = (questions as { questions: { id: string }[] }).questions[0]!;
    await lab.folder.json(['questions', 'answer', id, '--answers', '{"seats": 4}', '--json']);
    expect(server.done).toEqual(['booked 4 for Hamlet']);
    expect(await texts).toEqual(['The hall asks how many seats.', 'Booked 4 seats.']);
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
    expect(await gateway.ask('book two seats for Hamlet')).toMatchObject({ reply: 'Booked.' });
    expect(server.done).toEqual(['booked 2 for Hamlet']);
  });
});

describe('a scheduled task with a model', () => {
  it('is a turn of the agent', async () => {
    const { gateway, turns } = await start([{ text: 'Nothing new.' }]);
    const at = new Date(Date.now() + 2000).toISOString();
    const added = await gateway.post('/schedule', { name: 'mail', at, prompt: 'Check mail' });
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
