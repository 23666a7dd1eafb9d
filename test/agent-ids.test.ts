import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createGantry } from '../packages/gantry/src/host/create-gantry.ts';
import type { AgentService } from '../packages/gantry/src/host/plugins/agent.ts';
import { agent, agentKey } from '../packages/gantry/src/host/plugins/agent.ts';
import { configSchema } from '../packages/gantry/src/host/config/config-schema.ts';
import { silentLog } from '../packages/gantry/src/kernel/log.ts';
import { defineTool } from '../packages/gantry/src/tool/define-tool.ts';
import { isTurn, turnsOf } from './fixtures/agent-gateway.ts';
import type { ModelTurn } from './fixtures/agent-gateway.ts';
import { saidIn } from './fixtures/model-loop.ts';
import type { ModelRequest, ScriptedReply } from './fixtures/model-script.ts';
import { startModel } from './fixtures/model-server.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

const seen: unknown[] = [];
const draw = defineTool({
  name: 'draw_on',
  description: 'Draws on a picture.',
  input: z.strictObject({ media_id: z.string(), message_id: z.string().optional() }),
  execute: (args) => {
    seen.push(args);
    return 'drawn';
  },
});

/** An agent whose shared folder holds two pictures; `alone` answers what is asked beside its turns. */
const start = async (turns: readonly ModelTurn[], alone?: (request: ModelRequest) => ScriptedReply) => {
  const sharedDir = await mkdtemp(join(tmpdir(), 'gantry-ids-'));
  open.defer(() => rm(sharedDir, { recursive: true }));
  await mkdir(join(sharedDir, 'attachments'));
  for (const name of ['a.png', 'b.png']) await writeFile(join(sharedDir, 'attachments', name), name);
  const model = open.use(await startModel(turnsOf(turns, alone)));
  const balanced = {
    provider: 'openai-compatible',
    endpoint: model.endpoint,
    modelId: 'scripted',
    supportsImageInput: true,
  } as const;
  const gantry = open.use(
    await createGantry({ config: configSchema.parse({ sharedDir }), dataDir: ':memory:', log: silentLog })
      .use(agent({ models: { balanced }, behaviors: { scripted: {} } }))
      .start(),
  );
  gantry.tools.register(draw.registration, draw.executor);
  seen.length = 0;
  const { sessions } = gantry.service(agentKey) as AgentService;
  return { sessions, requests: (): string[] => model.requests.filter(isTurn).map(saidIn), model };
};
const drawOn = (media_id: string, more: object = {}): ModelTurn => ({
  calls: [{ name: 'draw_on', args: { media_id, ...more } }],
});

describe('what comes with a message', () => {
  it('is named to the model by short ids, which tools get as what they stand for', async () => {
    const talk = await start([drawOn('media_2', { message_id: 'ref_1' }), { text: 'ok' }]);
    await talk.sessions.send({
      sessionId: 's1',
      text: 'draw a hat on the second',
      attachments: ['attachments/a.png', 'attachments/b.png'],
      refersTo: [{ id: '1187', about: 'Ada: "a hat, please"' }],
    });
    expect(talk.requests()[0]).toContain('- media_2: `attachments/b.png`');
    expect(talk.requests()[0]).toContain("- ref_1: Ada: 'a hat, please'");
    expect(seen).toEqual([
      {
        media_id: 'attachments/b.png',
        message_id: '1187',
        __original_media_id: 'media_2',
        __original_message_id: 'ref_1',
      },
    ]);
  });

  it('has ids of its turn only: one of another turn stands for nothing', async () => {
    const talk = await start([drawOn('media_1'), { text: 'ok' }, drawOn('media_1'), { text: 'ok' }]);
    await talk.sessions.send({ sessionId: 's1', text: 'draw', attachments: ['attachments/a.png'] });
    await talk.sessions.send({ sessionId: 's1', text: 'and on this one', attachments: ['attachments/b.png'] });
    // What was a file of the turn before is named by its path now, and the new one by an id that was not there before.
    expect(talk.requests()[2]).toContain('(Attached: `attachments/a.png`)');
    expect(talk.requests()[2]).toContain('- media_2: `attachments/b.png`');
    expect(seen).toEqual([{ media_id: 'attachments/a.png', __original_media_id: 'media_1' }, { media_id: 'media_1' }]);
  });

  it('is named once, however often it came', async () => {
    const talk = await start([{ text: 'ok' }]);
    await talk.sessions.send({
      sessionId: 's1',
      text: 'look',
      attachments: ['attachments/a.png', 'attachments/a.png'],
    });
    expect(talk.requests()[0]?.split('media_1').length).toBe(2);
  });

  it('has ids of its session only', async () => {
    const talk = await start([{ text: 'ok' }, drawOn('media_1'), { text: 'ok' }]);
    await talk.sessions.send({ sessionId: 's1', text: 'look', attachments: ['attachments/a.png'] });
    await talk.sessions.send({ sessionId: 's2', text: 'draw on it' });
    expect(seen).toEqual([{ media_id: 'media_1' }]);
  });

  it('is looked at by its id', async () => {
    const look: ModelTurn = { calls: [{ name: 'analyze_file', args: { path: 'media_1', prompt: 'What is it?' } }] };
    const talk = await start([look, { text: 'ok' }], (request) =>
      saidIn(request).includes(Buffer.from('b.png').toString('base64')) ? { text: 'A boat.' } : { text: 'Nothing.' },
    );
    await talk.sessions.send({ sessionId: 's1', text: 'what is this?', attachments: ['attachments/b.png'] });
    expect(talk.requests()[1]).toContain('A boat.');
  });

  it.each([
    [{ attachments: ['a`b.png'] }, 'is no path of an attachment'],
    [{ attachments: ['a\nb.png'] }, 'is no path of an attachment'],
    [{ attachments: ['a\u202egnp.exe'] }, 'is no path of an attachment'],
    [{ attachments: Array.from({ length: 21 }, () => 'a.png') }, '20 of each are the most'],
  ])('is refused when it is %j', async (more, problem) => {
    const talk = await start([]);
    await expect(talk.sessions.send({ sessionId: 's1', text: 'hi', ...more })).rejects.toThrow(problem);
    expect(await talk.sessions.list()).toEqual([]);
  });
});
