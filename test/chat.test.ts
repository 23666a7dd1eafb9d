import { describe, expect, it } from 'vitest';
import type { ServerSentEvent } from '../packages/gantry/src/operations/http/read-events.ts';
import { readEvents } from '../packages/gantry/src/operations/http/read-events.ts';
import { agentLab } from './fixtures/agent-gateway.ts';
import { saidIn } from './fixtures/model-loop.ts';
import type { ModelScript, ModelServer } from './fixtures/model-server.ts';

const lab = agentLab();

const withModel = async (script: ModelScript): Promise<ModelServer> => {
  const model = await lab.model(script);
  lab.folder.write('gantry.config.json', {
    models: { balanced: { provider: 'openai-compatible', endpoint: model.endpoint, modelId: 'scripted' } },
  });
  return model;
};
const allOf = async (events: AsyncIterable<ServerSentEvent>): Promise<ServerSentEvent[]> => {
  const all: ServerSentEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
};
const save = { calls: [{ name: 'save_to_working_memory', args: { key: 'note', data: 'hello' } }] };

describe('gantry chat --message', () => {
  it('says in one line how to get a model where there is none, Ollama first', async () => {
    const { code, stdout, stderr } = await lab.folder.run(['chat', '--message', 'hi']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^gantry: No model is configured\. With Ollama: .*\n$/);
  });

  it('streams the answer to standard output, and what tools do to standard error', async () => {
    const model = await withModel([{ text: 'One moment. ', ...save }, { text: ['Kept ', 'it.'] }]);
    const { code, stdout, stderr } = await lab.folder.run(['chat', '--session', 's1', '--message', 'keep hello']);
    expect([code, stdout]).toEqual([0, 'One moment. \nKept it.\n']);
    expect(stderr).toContain('→ save_to_working_memory {"key":"note","data":"hello"}');
    expect(stderr).toMatch(/✓ save_to_working_memory \d/);
    expect(saidIn(model.requests[0]!)).toContain('keep hello');
  });

  it('prints one document with --json', async () => {
    await withModel([save, { text: 'Kept it.', usage: [30, 4] }]);
    const [code, document] = await lab.folder.json(['chat', '--session', 's1', '--message', 'keep hello', '--json']);
    expect(code).toBe(0);
    expect(document).toMatchObject({
      sessionId: 's1',
      reply: 'Kept it.',
      toolCalls: [{ name: 'save_to_working_memory', arguments: { key: 'note' }, isError: false }],
      usage: { inputTokens: 40, outputTokens: 9 },
    });
  });

  it('goes on with a session: what was said and called before is part of the next turn', async () => {
    const model = await withModel([save, { text: 'Kept it.' }, { text: 'You had me keep hello.' }]);
    await lab.folder.run(['chat', '--session', 's1', '--message', 'keep hello']);
    await lab.folder.run(['chat', '--session', 's1', '--message', 'what did I ask?']);
    const messages = model.requests[2]!.body['messages'] as { role: string; content: string }[];
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
    expect(messages[1]?.content).toBe('keep hello');
    expect(messages[4]?.content).toBe('Kept it.');
    expect(messages[5]?.content).toContain('session/s1/note');
  });

  it('takes the message from a pipe', async () => {
    await withModel([{ text: 'Hello.' }]);
    expect(await lab.folder.run(['chat'], { stdin: 'hi there' })).toMatchObject({ code: 0, stdout: 'Hello.\n' });
    expect(await lab.folder.run(['chat'], { stdin: '' })).toMatchObject({ code: 2 });
  });

  it('exits 1 with the reason when the model fails', async () => {
    await withModel(() => ({ status: 401, message: 'no such key' }));
    const { code, stderr } = await lab.folder.run(['chat', '--message', 'hi']);
    expect(code).toBe(1);
    expect(stderr).toContain('refused the key (HTTP 401)');
  });

  it('exits 130 when it is interrupted, and the turn is on record as stopped', async () => {
    const held = Promise.withResolvers<void>();
    const model = await withModel([{ text: 'I begin', hold: held.promise }, { text: 'Again.' }]);
    const child = lab.folder.start(['chat', '--session', 's1', '--message', 'go']);
    const heard = Promise.withResolvers<void>();
    child.stdout.on('data', () => heard.resolve());
    await heard.promise;
    const ended = new Promise((resolve) => child.on('exit', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    held.resolve();
    await lab.folder.run(['chat', '--session', 's1', '--message', 'still there?']);
    expect(saidIn(model.requests[1]!)).toContain('I begin (stopped)');
  });
});

describe('a gateway with an agent', () => {
  it('answers over HTTP, as a document and as a stream of events', async () => {
    await withModel([{ text: 'Hello.' }, save, { text: ['Kept ', 'it.'] }]);
    const gateway = await lab.serve();
    const document = await gateway.post('/sessions/s1/messages', { message: 'hi' });
    expect(await document.json()).toMatchObject({ sessionId: 's1', reply: 'Hello.', toolCalls: [] });
    const stream = await gateway.post('/sessions/s1/messages', { message: 'keep' }, { accept: 'text/event-stream' });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const events: string[] = [];
    let result: unknown;
    for await (const { type, data } of readEvents(stream.body!)) {
      events.push(type);
      if (type === 'result') result = JSON.parse(data);
    }
    expect(events).toEqual(['turn-start', 'tool-start', 'tool-end', 'text', 'text', 'turn-end', 'result']);
    expect(result).toMatchObject({ reply: 'Kept it.' });
    const shown = await fetch(`${gateway.url}/api/v1/sessions/s1`);
    expect(await shown.json()).toMatchObject({
      turns: [
        { role: 'user', origin: 'person', text: 'hi' },
        { role: 'assistant', status: 'done', text: 'Hello.' },
        { role: 'user' },
        { role: 'assistant', toolCalls: [{ name: 'save_to_working_memory', isError: false }] },
      ],
    });
  });

  it('tells an error at the end of a stream', async () => {
    await withModel(() => ({ status: 400, message: 'nope' }));
    const gateway = await lab.serve();
    const stream = await gateway.post('/sessions/s1/messages', { message: 'hi' }, { accept: 'text/event-stream' });
    const events = await allOf(readEvents(stream.body!));
    expect(events.at(-1)?.type).toBe('error');
    expect(events.at(-1)?.data).toContain('nope');
    const document = await gateway.post('/sessions/s1/messages', { message: 'hi' });
    expect([document.status, await document.json()]).toMatchObject([502, { error: { code: 'model_failed' } }]);
  });

  it('ends a turn when a newer message comes, and answers for both', async () => {
    const held = Promise.withResolvers<void>();
    const model = await withModel([{ text: 'thinking', hold: held.promise }, { text: 'Both.' }]);
    const gateway = await lab.serve();
    const first = await gateway.post('/sessions/s1/messages', { message: 'one' }, { accept: 'text/event-stream' });
    const events = readEvents(first.body!);
    for (;;) {
      const next = await events.next();
      if (next.value?.type === 'text') break;
    }
    const second = await gateway.post('/sessions/s1/messages', { message: 'two' });
    expect(await second.json()).toMatchObject({ reply: 'Both.', status: 'done' });
    const rest = await allOf(events);
    expect(JSON.parse(rest.at(-1)?.data ?? '')).toMatchObject({ status: 'superseded', reply: '' });
    expect(saidIn(model.requests[1]!)).toContain('one');
    held.resolve();
  });

  it('ends the turn of a reader that leaves', async () => {
    const held = Promise.withResolvers<void>();
    await withModel([{ text: 'I begin', hold: held.promise }]);
    const gateway = await lab.serve();
    const left = new AbortController();
    const stream = await fetch(`${gateway.url}/api/v1/sessions/s1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ message: 'hi' }),
      signal: left.signal,
    });
    const watcher = await fetch(`${gateway.url}/api/v1/sessions/s1/events`, {
      headers: { accept: 'text/event-stream' },
    });
    await readEvents(stream.body!).next();
    const failed = (async (): Promise<string | undefined> => {
      for await (const { type, data } of readEvents(watcher.body!)) if (type === 'turn-failed') return data;
      return undefined;
    })();
    left.abort();
    expect(await failed).toContain('cancelled');
    held.resolve();
  });

  it('stops at once, also while somebody listens to a session', async () => {
    await withModel([]);
    const gateway = await lab.serve();
    const watcher = await fetch(`${gateway.url}/api/v1/sessions/s1/events`, {
      headers: { accept: 'text/event-stream' },
    });
    const startedMs = performance.now();
    expect(await gateway.process.stop('SIGTERM')).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(4_000);
    const events = await allOf(readEvents(watcher.body!));
    expect(events.map(({ type }) => type)).toEqual(['result']);
  });

  it('loses no call and no result when it is killed in the middle of a turn', async () => {
    const held = Promise.withResolvers<void>();
    const model = await withModel([save, { text: 'I was about to', hold: held.promise }, { text: 'I had kept it.' }]);
    const first = await lab.serve();
    const stream = await first.post('/sessions/s1/messages', { message: 'keep' }, { accept: 'text/event-stream' });
    const events = readEvents(stream.body!);
    for (;;) {
      const next = await events.next();
      if (next.value?.type === 'text') break;
    }
    await first.process.stop('SIGKILL');
    const second = await lab.serve();
    const reply = await second.post('/sessions/s1/messages', { message: 'did you?' }, { accept: 'text/event-stream' });
    const after = await allOf(readEvents(reply.body!));
    expect(JSON.parse(after.at(-1)?.data ?? '')).toMatchObject({ reply: 'I had kept it.' });
    // The claim of a process that is known to be gone is not waited for.
    if (process.platform === 'linux') expect(after.map(({ type }) => type)).not.toContain('waiting');
    const said = saidIn(model.requests[2]!);
    expect(said).toContain('Saved as `session/s1/note`');
    expect(said).toContain('(This turn was interrupted.)');
    held.resolve();
  });

  it('serves the chat of another process', async () => {
    await withModel([{ text: 'From the gateway.' }]);
    const gateway = await lab.serve();
    const { code, stdout } = await lab.folder.run(['chat', '--message', 'hi']);
    expect([code, stdout]).toEqual([0, 'From the gateway.\n']);
    expect(gateway.url).toContain('127.0.0.1');
  });

  it('refuses what is no session and what says nothing', async () => {
    await withModel([]);
    const gateway = await lab.serve();
    expect((await gateway.post('/sessions/a%2Fb/messages', { message: 'hi' })).status).toBe(400);
    expect((await gateway.post('/sessions/s1/messages', { message: '   ' })).status).toBe(400);
    expect((await fetch(`${gateway.url}/api/v1/sessions/s1/events`)).status).toBe(400);
  });
});
