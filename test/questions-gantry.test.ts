import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGantry } from '../packages/gantry/src/host/create-gantry.ts';
import type { Gantry } from '../packages/gantry/src/host/create-gantry.ts';
import { mcp, mcpServers } from '../packages/gantry/src/host/plugins/mcp.ts';
import { silentLog } from '../packages/gantry/src/kernel/log.ts';
import type { CallContext } from '../packages/gantry/src/tool/context.ts';
import { outcomeText } from '../packages/gantry/src/tool/outcome-text.ts';
import type { AskingServer } from './fixtures/asking-server.ts';
import { startAskingServer } from './fixtures/asking-server.ts';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';

let asking: AskingServer;
beforeEach(async () => {
  asking = await startAskingServer();
});
afterEach(() => asking[Symbol.asyncDispose]());

const run: CallContext = {
  caller: 'model',
  namespace: 'session/s1',
  answersQuestions: true,
  receivesLateResults: true,
};

describe('a run of an agent', () => {
  let folder: string;
  let gantry: Gantry;
  const write = (entry: object | undefined): Promise<void> =>
    writeFile(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: entry ? { asking: entry } : {} }));
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gantry-questions-'));
    await write({ url: asking.url, elicitation: { mode: 'handback' } });
    gantry = await createGantry({ dataDir: ':memory:', cwd: folder, log: silentLog })
      .use(mcp({ config: join(folder, 'mcp.json') }))
      .start();
    await gantry.service(mcpServers)?.ready();
  });
  afterEach(async () => {
    await gantry[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const call = async (name: string, args: object, context: CallContext = run): Promise<string> =>
    outcomeText(await gantry.invoker.invoke({ name, arguments: args as never }, context));

  it('answers a question with mcp_answer and gets the result of its call', async () => {
    const asked = await call('asking__book', { show: 'Hamlet' });
    const [id] = /q_[0-9a-f]{32}/.exec(asked) ?? [];
    expect(await call('mcp_answer', { question_id: id, answers: { seats: 3 } })).toContain('booked 3 for Hamlet');
    expect(await call('mcp_answer', { question_id: id, answers: { seats: 3 } })).toContain('already answered');
  });

  it('is told what to give when it gives nothing, and that there is no such question', async () => {
    expect(await call('mcp_answer', { question_id: 'q_0', decline: true })).toContain('no open question "q_0"');
    const asked = await call('asking__book', { show: 'Hamlet' });
    const [id] = /q_[0-9a-f]{32}/.exec(asked) ?? [];
    expect(await call('mcp_answer', { question_id: id })).toContain('Give "answers"');
  });

  it('has mcp_answer exactly while a connected server can hand questions back', async () => {
    const names = (context: CallContext): readonly string[] => gantry.toolset(context).tools.map(({ name }) => name);
    expect(names(run)).toContain('mcp_answer');
    expect(names({ caller: 'client', client: 'desktop' })).not.toContain('mcp_answer');
    const gone = Promise.withResolvers<void>();
    const stop = gantry.tools.onChange(() => {
      if (!names(run).includes('mcp_answer')) gone.resolve();
    });
    await write({ url: asking.url });
    await gone.promise;
    stop();
  });

  it('pins the server whose call went on', async () => {
    const asked = await call('asking__book', { show: 'Hamlet' }, { ...run, namespace: 'session/s2' });
    const [id] = /q_[0-9a-f]{32}/.exec(asked) ?? [];
    await call('mcp_answer', { question_id: id, answers: { seats: 3 } }, { ...run, namespace: 'session/s2' });
    const names = gantry.toolset({ ...run, namespace: 'session/s2' }).tools.map(({ name }) => name);
    expect(names).toContain('asking__trip');
  });
});

describe('a person', () => {
  let folder: GantryFolder;
  beforeEach(() => {
    folder = makeGantryFolder();
    folder.write('mcp.json', { mcpServers: { asking: { url: asking.url } } });
  });
  afterEach(() => folder[Symbol.dispose]());

  it('answers a question of a server at the command line, without a gateway between the commands', async () => {
    const [code, called] = await folder.json(['tools', 'call', 'asking__book', '--args', '{"show":"Lear"}']);
    expect([code, called]).toMatchObject([0, { status: 'parked', handle: { kind: 'question' } }]);
    const { id } = (called as { handle: { id: string } }).handle;
    const listed = await folder.run(['questions', 'list']);
    expect(listed.stdout).toContain(
      `${id}  asking: book\n  "How many seats?"\n  seats: integer, required\n  asked of you`,
    );
    const missing = await folder.run(['questions', 'answer', id]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining(`--answers '{"seats": …}'`) as unknown]);
    const wrong = await folder.run(['questions', 'answer', id, '--answers', '{"seats":99}']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('stays open') as unknown]);
    const answered = await folder.run(['questions', 'answer', id, '--answers', '{"seats":2}']);
    expect([answered.code, answered.stdout]).toEqual([0, expect.stringContaining('booked 2 for Lear') as unknown]);
    expect((await folder.run(['questions', 'list'])).stdout).toBe('No server waits for an answer.\n');
    expect(asking.done).toEqual(['booked 2 for Lear']);
  });

  it('answers over HTTP, and declines', async () => {
    await using gateway = await folder.serve();
    const post = async (path: string, body: object): Promise<unknown> =>
      (
        await fetch(`${gateway.url}/api/v1${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).json();
    await expect
      .poll(async () => await (await fetch(`${gateway.url}/api/v1/servers`)).json())
      .toMatchObject({ servers: [{ state: 'connected' }] });
    const park = async (): Promise<string> => {
      const called = await post('/tools/asking__book/call', { arguments: { show: 'Lear' } });
      return (called as { handle: { id: string } }).handle.id;
    };
    const id = await park();
    const listed: unknown = await (await fetch(`${gateway.url}/api/v1/questions`)).json();
    expect(listed).toMatchObject({ questions: [{ id, server: 'asking', tool: 'book', session: null }] });
    expect(await post(`/questions/${id}/answer`, { answers: { seats: 4 } })).toMatchObject({
      status: 'done',
      content: expect.stringContaining('booked 4 for Lear') as unknown,
    });
    expect(await post(`/questions/${await park()}/decline`, {})).toMatchObject({
      content: expect.stringContaining('not booked: decline') as unknown,
    });
    expect(await folder.json(['tasks', 'list'])).toEqual([0, { tasks: [] }]);
    expect(await folder.json(['tasks', 'cancel', 't_0'])).toMatchObject([1, { error: { code: 'task_unknown' } }]);
  });
});
