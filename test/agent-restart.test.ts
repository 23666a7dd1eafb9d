import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readEvents } from '../packages/gantry/src/operations/http/read-events.ts';
import { defineTool } from '../packages/gantry/src/tool/define-tool.ts';
import type { Outcome } from '../packages/gantry/src/tool/outcome.ts';
import { failedOutcome } from '../packages/gantry/src/tool/outcome.ts';
import type { ModelTurn } from './fixtures/agent-gateway.ts';
import { isTurn } from './fixtures/agent-gateway.ts';
import type { LoopRun } from '../packages/gantry/src/agent/loop/loop-run.ts';
import type { GantryFolder, ServingGantry } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import type { ScriptedLoop, ScriptedLoopOptions } from './fixtures/model-loop.ts';
import { offeredTools, saidIn, startLoop } from './fixtures/model-loop.ts';
import type { ModelRequest, ScriptedReply } from './fixtures/model-script.ts';
import type { ModelScript, ModelServer } from './fixtures/model-server.ts';
import { startModel } from './fixtures/model-server.ts';

const png = (text: string): Buffer => Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(text)]);
const plan = png('the plan of the house, in many bytes');
const base64 = plan.toString('base64');

describe('view_file, in sessions over HTTP', () => {
  let folder: GantryFolder;
  let model: ModelServer;
  let gateway: ServingGantry;
  let turns: ModelTurn[] = [];

  beforeAll(async () => {
    folder = makeGantryFolder();
    model = await startModel((request) => {
      const next = isTurn(request) ? (turns.shift() ?? { text: '(end of the script)' }) : { text: 'A server.' };
      return typeof next === 'function' ? next(request) : next;
    });
    folder.write('gantry.config.json', {
      sharedDir: 'shared',
      models: { balanced: { endpoint: model.endpoint, modelId: 'scripted', supportsImageInput: true } },
      modelBehaviors: { models: { scripted: {} } },
    });
    mkdirSync(join(folder.path, 'shared', 'attachments'), { recursive: true });
    writeFileSync(join(folder.path, 'shared', 'attachments', 'plan.png'), plan);
    writeFileSync(join(folder.path, 'shared', 'other.png'), png('another'));
    gateway = await folder.serve();
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const post = (session: string, body: object, accept = 'application/json'): Promise<Response> =>
    fetch(`${gateway.url}/api/v1/sessions/${session}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify(body),
    });
  const ask = async (session: string, script: ModelTurn[], message: string, more: object = {}) => {
    turns = script;
    const before = model.requests.length;
    const reply = (await (await post(session, { message, ...more })).json()) as Record<string, unknown>;
    return { reply, requests: model.requests.slice(before).filter(isTurn) };
  };
  const view = (...paths: string[]): ModelTurn => ({ calls: [{ name: 'view_file', args: { paths } }] });
  const attached = { attachments: ['attachments/plan.png'] };

  it('shows the model a picture in place of the call and its result, once in a turn', async () => {
    const { reply, requests } = await ask(
      'shown',
      [view('media_1'), view('other.png'), { text: 'A house with two rooms.' }],
      'what is this?',
      attached,
    );
    expect(reply).toMatchObject({
      reply: 'A house with two rooms.',
      toolCalls: [
        { name: 'view_file', isError: false },
        { name: 'view_file', isError: true },
      ],
    });
    const [first, second, third] = requests as [ModelRequest, ModelRequest, ModelRequest];
    expect(offeredTools(first)).toContain('view_file');
    expect(offeredTools(second)).not.toContain('view_file');
    expect(rolesIn(second)).toEqual(['system', 'user']);
    expect(saidIn(second)).toContain(`data:image/png;base64,${base64}`);
    expect(saidIn(second)).toContain('[From the tool view_file, not from the user] The picture that you asked to see.');
    expect(saidIn(second)).toContain('`attachments/plan.png`:');
    expect(rolesIn(third)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(saidIn(third)).toContain('does so once in a turn');
    expect(offeredTools(third)).not.toContain('view_file');
    expect(saidIn(third)).not.toContain(png('another').toString('base64'));
  });

  it('is a line of text in later turns, which may view it again', async () => {
    await ask('later', [view('media_1'), { text: 'A house.' }], 'what is this?', attached);
    const { requests } = await ask('later', [view('attachments/plan.png'), { text: 'Two rooms.' }], 'how many rooms?');
    const [first, second] = requests as [ModelRequest, ModelRequest];
    expect(saidIn(first)).not.toContain(base64);
    expect(saidIn(first)).toContain(
      '[Put here by the tool view_file, not by the user, and no longer shown] The picture that you asked to see. (attachments/plan.png)',
    );
    expect(saidIn(first)).not.toContain('tool_calls');
    expect(saidIn(second).split(base64)).toHaveLength(2);
  });

  it('is streamed as any other call', async () => {
    turns = [view('attachments/plan.png'), { text: 'A house.' }];
    const response = await post('streamed', { message: 'look at the plan' }, 'text/event-stream');
    const events: string[] = [];
    let told = '';
    for await (const { type, data } of readEvents(response.body!)) {
      events.push(type);
      if (type === 'tool-end') told = data;
    }
    expect(events.filter((type) => type.startsWith('tool-'))).toEqual(['tool-start', 'tool-end']);
    expect(JSON.parse(told)).toMatchObject({
      name: 'view_file',
      status: 'done',
      result: `Put before the model: \`attachments/plan.png\` (image/png, ${plan.length} bytes).`,
    });
    expect(events.at(-1)).toBe('result');
  });

  it('leaves its bytes in no record: neither in the data folder nor in what was called lately', async () => {
    await ask('kept', [view('attachments/plan.png', 'other.png'), { text: 'Two pictures.' }], 'look at both');
    const executions = await (await fetch(`${gateway.url}/api/v1/executions`)).text();
    expect(executions).toContain('view_file');
    expect(executions).not.toContain(base64);
    const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !entry.parentPath.split(sep).includes('shared'),
    );
    const kept = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)));
    expect(kept.some((bytes) => bytes.includes('no longer shown') || bytes.includes('attachments/plan.png'))).toBe(
      true,
    );
    expect(kept.filter((bytes) => bytes.includes(base64) || bytes.includes(plan))).toEqual([]);
  });

  it('is answered with what was wrong, and may be called again, when it showed nothing', async () => {
    const { requests } = await ask('wrong', [view('../plan.png'), view('other.png'), { text: 'Fine.' }], 'look');
    expect(saidIn(requests[1]!)).toContain('contains \\"..\\"');
    expect(offeredTools(requests[1]!)).toContain('view_file');
    expect(saidIn(requests[2]!)).toContain(png('another').toString('base64'));
  });

  it('is named in the turn behind one in which its process died, and may be viewed again', async () => {
    const looking = Promise.withResolvers<void>();
    const hang = (): ScriptedReply => {
      looking.resolve();
      return { text: ['A', ' house.'], pauses: [new Promise(() => {})] };
    };
    turns = [view('attachments/plan.png'), hang];
    const lost = post('died', { message: 'what is this?' }).catch(() => undefined);
    await looking.promise;
    await gateway.stop('SIGKILL');
    await lost;
    gateway = await folder.serve();
    const { reply, requests } = await ask('died', [{ text: 'I was looking.' }], 'still there?');
    expect(reply).toMatchObject({ reply: 'I was looking.' });
    const [request] = requests as [ModelRequest];
    expect(rolesIn(request)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(saidIn(request)).toContain('no longer shown] The picture that you asked to see. (attachments/plan.png)');
    expect(saidIn(request)).toContain('(This turn was interrupted.)');
    expect(saidIn(request)).not.toContain(base64);
    expect(offeredTools(request)).toContain('view_file');
  });

  // The last one: its result comes to the conversation when it likes.
  it('is there for subagents, with the ids of the turn that handed the work over', async () => {
    const seen = Promise.withResolvers<string>();
    const next = (request: ModelRequest): ScriptedReply => {
      const tools = offeredTools(request);
      if (tools.includes('spawn_subagent'))
        return rolesIn(request).includes('tool')
          ? { text: 'It is being looked at.' }
          : { calls: [{ name: 'spawn_subagent', args: { description: 'Say what media_1 shows.' } }] };
      if (tools.includes('view_file')) return { calls: [{ name: 'view_file', args: { paths: ['media_1'] } }] };
      seen.resolve(saidIn(request));
      return { text: 'A house.' };
    };
    await ask('handed-over', Array<ModelTurn>(8).fill(next), 'have it looked at', attached);
    expect(await seen.promise).toContain(base64);
  });
});

describe('a tool whose outcome has a context item', () => {
  let open = new AsyncDisposableStack();
  afterEach(async () => {
    await open.disposeAsync();
    open = new AsyncDisposableStack();
  });
  const input = z.strictObject({});
  let loop: ScriptedLoop;
  /** Shows the picture, which is in no file. */
  const showing = (more: Partial<Extract<Outcome, { status: 'done' }>> = {}): Outcome => ({
    status: 'done',
    parts: [{ type: 'text', text: 'shown' }],
    contextItem: { text: 'The profile picture of Ada.', media: [loop.gantry.media.put(plan, 'image/png')] },
    ...more,
  });
  const peek = defineTool({ name: 'peek', description: 'Peeks.', input, execute: () => showing() });
  const tools = [
    peek,
    defineTool({ name: 'look', description: 'Looks.', input, execute: () => 'seen' }),
    defineTool({ name: 'fail', description: 'Fails.', input, execute: () => failedOutcome('execution_failed', 'no') }),
    defineTool({ name: 'peek_and_end', description: 'Peeks.', input, execute: () => showing({ endTurn: true }) }),
    defineTool({ name: 'peek_of_server', source: 'mcp:x', description: 'Peeks.', input, execute: () => showing() }),
    defineTool({
      name: 'peek_long',
      description: 'Peeks.',
      input,
      execute: () => showing({ parts: [{ type: 'text', text: 'x'.repeat(70_000) }] }),
    }),
    defineTool({
      name: 'peek_gone',
      description: 'Peeks.',
      input,
      execute: () => showing({ contextItem: { text: 'Ada.', media: [{ stashKey: 'none', mediaType: 'image/png' }] } }),
    }),
    defineTool({
      name: 'tell',
      description: 'Tells.',
      input,
      execute: () => showing({ contextItem: { text: 'The rules have changed.', media: [] } }),
    }),
  ];
  const start = async (script: ModelScript, options: ScriptedLoopOptions = {}): Promise<ScriptedLoop> =>
    (loop = open.use(await startLoop(script, { tools, settings: { supportsImageInput: true }, ...options })));
  const calls = (...names: readonly string[]) => ({ calls: names.map((name) => ({ name, args: {} })) });
  const done = { text: 'I see.' };
  const asked = (at: number): string => saidIn(loop.model.requests[at]!);

  it.each([
    ['chat', { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } }],
    ['responses', { type: 'input_image', image_url: `data:image/png;base64,${base64}` }],
    ['messages', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }],
    ['gemini', { inlineData: { mimeType: 'image/png', data: base64 } }],
  ] as const)('is shown over %s in the form of its provider, behind what the user said', async (protocol, picture) => {
    await start([{ text: 'Let me look.', ...calls('look') }, calls('peek'), done], { protocol });
    expect((await loop.run('who is that?')).text).toBe('I see.');
    const request = loop.model.requests[2]!;
    expect(partsIn(request).at(-1)).toMatchObject(picture);
    expect(asked(2)).toContain('The profile picture of Ada.');
    // The call of the step before stays, and of this one nothing.
    expect(asked(2)).toContain('seen');
    expect(asked(2)).not.toContain('"peek"');
    expect(offeredTools(request)).toEqual(expect.arrayContaining(['look']));
    expect(offeredTools(request)).not.toContain('peek');
  });

  it('is refused again also under a name that its provider made of it', async () => {
    const dotted = defineTool({ name: 'chat.peek', description: 'Peeks.', input, execute: () => showing() });
    const peeks: ModelScript = (request, at) => {
      const written = offeredTools(loop.model.requests[0]!).find((name) => name.startsWith('chat')) ?? '';
      return at < 2 ? calls(written) : done;
    };
    await start(peeks, { tools: [dotted] });
    await loop.run('go');
    expect(asked(2)).toContain('\\"chat.peek\\" has put something before you');
  });

  it('is one message with what the user said where nothing stands between: some models refuse two', async () => {
    await start([calls('peek'), done]);
    await loop.run('who is that?');
    expect(rolesIn(loop.model.requests[1]!)).toEqual(['system', 'user']);
    expect(asked(1)).toMatch(/who is that\?.*The profile picture of Ada\..*image_url/);
  });

  it('leaves the calls beside it their results, and what was said', async () => {
    await start([{ text: 'Two things.', ...calls('look', 'peek', 'fail') }, done]);
    const { steps } = await loop.run('go');
    const [, , said, results] = messagesIn(loop.model.requests[1]!);
    expect(rolesIn(loop.model.requests[1]!)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'user']);
    expect(said).toMatchObject({
      content: 'Two things.',
      tool_calls: [{ function: { name: 'look' } }, { function: { name: 'fail' } }],
    });
    expect(results).toMatchObject({ content: 'seen' });
    expect(steps[0]?.calls.map(({ name, shown }) => [name, shown])).toEqual([
      ['look', undefined],
      ['peek', 'The profile picture of Ada. (image/png)'],
      ['fail', undefined],
    ]);
    expect(JSON.stringify(loop.recorded)).not.toContain(base64);
  });

  it('sets failures in a row back, also those beside it', async () => {
    const many = Array.from({ length: 4 }, () => calls('fail'));
    await start([...many, calls('peek', 'fail'), ...many, done]);
    expect(await loop.run('go')).toMatchObject({ text: 'I see.', endedBy: 'answer' });
  });

  it('is a round like others: tools that go on so come to the limit', async () => {
    await start([calls('peek'), calls('peek_long'), calls('tell'), done], { limits: { maxToolIterations: 2 } });
    const { endedBy, steps } = await loop.run('go');
    expect(endedBy).toBe('iterations');
    expect(steps).toHaveLength(2);
    expect(asked(3)).toContain('limit of tool calls');
    expect(asked(3)).toContain(base64);
  });

  it('does not end the turn, whatever is said beside it', async () => {
    await start([{ text: 'That is all.', ...calls('peek_and_end') }, done]);
    expect((await loop.run('go')).text).toBe('I see.');
  });

  it('is a result like others when it belongs to a server', async () => {
    await start([calls('peek_of_server'), calls('peek_of_server'), done]);
    await loop.run('go');
    expect(asked(2)).not.toContain(base64);
    expect(asked(2)).toContain('shown');
    expect(offeredTools(loop.model.requests[2]!)).toContain('peek_of_server');
  });

  it('is shown also when the result beside it is too long to be given whole', async () => {
    await start([calls('peek_long'), done]);
    await loop.run('go');
    expect(asked(1)).toContain(base64);
    expect(asked(1)).not.toContain('has been split');
  });

  it('may be of words alone', async () => {
    await start([calls('tell'), done]);
    await loop.run('go');
    expect(asked(1)).toContain('[From the tool tell, not from the user] The rules have changed.');
    expect(asked(1)).not.toContain('What is shown is content');
  });

  it('names what cannot be shown, with the reason', async () => {
    await start([calls('peek_gone', 'peek'), done]);
    await loop.run('go');
    expect(asked(1)).toContain('(`image/png` is not shown: it is no longer there');
    expect(asked(1)).toContain(base64);
  });

  it('is in calls that stand in the text too, and leaves none of them', async () => {
    const call = (name: string) => `tool_call_name: ${name}\ntool_call_arguments: {}`;
    await start([{ text: `Let me see.\n${call('peek')}` }, { text: `${call('look')}\n${call('tell')}` }, done], {
      behaviors: { 'model-': { supportsTools: false, textToolCalls: true } },
    });
    await loop.run('who is that?');
    expect(messagesIn(loop.model.requests[1]!)[2]).toMatchObject({ role: 'assistant', content: 'Let me see.' });
    expect(asked(1)).toContain(base64);
    expect(asked(0)).toContain('- peek(');
    expect(asked(1)).not.toContain('- peek(');
    expect(messagesIn(loop.model.requests[2]!)[4]).toMatchObject({ role: 'assistant', content: call('look') });
    expect(asked(2)).toContain('[Tool result for look]: seen');
    expect(asked(2)).not.toContain('[Tool result for tell]');
  });

  it('becomes words when the turn goes on with a model that does not see', async () => {
    await start([done], {
      settings: { supportsImageInput: false },
      low: [calls('peek'), { status: 500, message: 'overloaded' }],
      lowSettings: { supportsImageInput: true },
    });
    expect((await loop.run('who is that?', { tier: 'low', isTierPinned: true })).text).toBe('I see.');
    expect(saidIn(loop.low!.requests[1]!)).toContain(base64);
    expect(asked(0)).toContain('(`image/png` is not shown: the model that answers now cannot see');
    expect(asked(0)).not.toContain(base64);
  });

  it('becomes words when the provider refuses the request that holds it', async () => {
    await start([calls('peek'), { status: 400, message: 'Could not process image' }, done]);
    expect((await loop.run('who is that?')).text).toBe('I see.');
    expect(asked(1)).toContain(base64);
    expect(asked(2)).toContain('(`image/png` is not shown: the provider of the model refused the request');
    expect(loop.events).toContainEqual(expect.objectContaining({ type: 'again' }));
  });

  it('stays when the conversation has to be shortened', async () => {
    const long = defineTool({ name: 'long', description: 'Long.', input, execute: () => 'y'.repeat(20_000) });
    const refusal = { status: 400, message: 'maximum context length is 1000 tokens, however you requested 3000' };
    await start([calls('peek', 'long'), refusal, done], { tools: [...tools, long] });
    await loop.run('who is that?');
    expect(asked(2)).toContain(base64);
    expect(asked(2)).toContain('are left out here');
  });

  it.each(['image: unknown format', 'image input is not supported'])(
    'becomes words when a local server fails with it: %s',
    async (message) => {
      await start([calls('peek'), { status: 500, message }, done]);
      expect((await loop.run('who is that?')).text).toBe('I see.');
      expect(asked(2)).not.toContain(base64);
    },
  );

  it('is shown also when the answer makes so many calls that the stash cannot keep what all of them show', async () => {
    await start([calls(...Array<string>(100).fill('peek')), done]);
    await loop.run('go');
    expect(asked(1).split(base64)).toHaveLength(17);
  });

  it('is read when its call has ended, whatever becomes of it while others of the answer go on', async () => {
    const read = Promise.withResolvers<void>();
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      input,
      execute: async () => {
        await read.promise;
        return Array.from({ length: 16 }, () => loop.gantry.media.put(plan, 'image/png').mediaType).join();
      },
    });
    await start([calls('peek', 'wait'), done], { tools: [...tools, wait] });
    const onEvent: NonNullable<LoopRun['onEvent']> = (event) => {
      if (event.type === 'tool-end' && event.name === 'peek') setImmediate(read.resolve);
    };
    await loop.run('go', { onEvent });
    expect(asked(1)).toContain(base64);
  });

  it('is not called by the bare name of its tool again, and the name is no answer', async () => {
    await start([{ text: 'peek' }, { text: 'peek' }, done], {
      behaviors: { 'model-': { supportsTools: false, textToolCalls: true } },
    });
    expect((await loop.run('who is that?')).text).toBe('I see.');
    expect(asked(2)).toContain('does so once in a turn');
  });

  it('leaves no blank text, which some providers refuse', async () => {
    await start([{ text: '\n\n', ...calls('peek') }, { text: ' ', ...calls('look') }, done], { protocol: 'messages' });
    await loop.run('who is that?');
    expect(rolesIn(loop.model.requests[1]!)).toEqual(['user']);
    expect(asked(2)).not.toMatch(/"text":"\s|"text":"\\n/);
  });

  it('is not read for a turn that was stopped', async () => {
    const stop = new AbortController();
    const slow = defineTool({
      name: 'slow',
      description: 'Slow.',
      input,
      execute: () => {
        stop.abort(new Error('stopped by the test'));
        return showing();
      },
    });
    await start([calls('slow'), done], { tools: [slow] });
    await expect(loop.run('go', { signal: stop.signal })).rejects.toThrow();
    expect(loop.model.requests).toHaveLength(1);
  });
});

describe('a picture in a result of a tool', () => {
  let open = new AsyncDisposableStack();
  afterEach(async () => {
    await open.disposeAsync();
    open = new AsyncDisposableStack();
  });
  const shoot = (data: string) =>
    defineTool({
      name: 'shoot',
      description: 'Shoots.',
      execute: () => ({
        status: 'done',
        parts: [
          { type: 'text', text: 'a shot' },
          { type: 'image', data, mimeType: 'image/png' },
        ],
      }),
    });
  const shot = { calls: [{ name: 'shoot' }] };
  const done = { text: 'I see.' };
  const start = async (script: ModelScript, options: ScriptedLoopOptions): Promise<ScriptedLoop> =>
    open.use(
      await startLoop(script, {
        protocol: 'messages',
        tools: [shoot(base64)],
        settings: { supportsImageInput: true },
        ...options,
      }),
    );

  it.each(['messages', 'responses', 'gemini'] as const)('is named when it is none, over %s', async (protocol) => {
    for (const data of ['no base64!', Buffer.from('<html>').toString('base64')]) {
      const loop = await start([shot, done], { protocol, tools: [shoot(data)] });
      expect((await loop.run('go')).text).toBe('I see.');
      const said = saidIn(loop.model.requests[1]!);
      expect(said).toContain('[image image/png, ');
      expect(said).not.toContain(data);
    }
  });

  it('becomes words when the provider refuses the request that holds it', async () => {
    const loop = await start([shot, { status: 400, message: 'Could not process image' }, done], {});
    expect((await loop.run('go')).text).toBe('I see.');
    expect(saidIn(loop.model.requests[1]!)).toContain(base64);
    expect(saidIn(loop.model.requests[2]!)).not.toContain(base64);
    expect(saidIn(loop.model.requests[2]!)).toContain('(`image/png` is not shown: the provider');
  });

  it('becomes words when the turn goes on with a model that does not see', async () => {
    const loop = await start([done], {
      settings: { supportsImageInput: false },
      low: [shot, { status: 500, message: 'overloaded' }],
      lowSettings: { supportsImageInput: true },
    });
    expect((await loop.run('go', { tier: 'low', isTierPinned: true })).text).toBe('I see.');
    expect(saidIn(loop.model.requests[0]!)).not.toContain(base64);
    expect(saidIn(loop.model.requests[0]!)).toContain('a shot');
  });
});

interface WireMessage {
  readonly role?: string;
  readonly content?: unknown;
  readonly parts?: unknown;
}

const messagesIn = ({ body }: ModelRequest): readonly WireMessage[] =>
  (body['messages'] ?? body['input'] ?? body['contents']) as readonly WireMessage[];

const rolesIn = (request: ModelRequest): readonly string[] => messagesIn(request).map(({ role = '' }) => role);

/** The parts of the last message. */
const partsIn = (request: ModelRequest): readonly unknown[] => {
  const { content, parts } = messagesIn(request).at(-1) ?? {};
  return (parts ?? content) as readonly unknown[];
};
