import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Outcome, ToolReport } from '../../../tool/outcome.ts';
import { outcomeText } from '../../../tool/outcome-text.ts';
import { createVolume } from '../../../volume/volume.ts';
import type { TokenKeeper } from '../auth/token-keeper.ts';
import type { AttachmentsEntry } from '../config/attachments-entry.ts';
import type { FileAnswer, FileRequest } from './attachment-http.ts';
import type { PassedCall } from './passthrough.ts';
import { createPassthrough } from './passthrough.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

let root: string;
let seen: Seen[];
let warnings: string[];
/** What the server answers, by method. */
let answers: Record<string, () => { status: number; headers?: Record<string, string>; body?: string }>;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-passthrough-'));
  mkdirSync(join(root, 'attachments'));
  seen = [];
  warnings = [];
  answers = {};
});
afterEach(() => rmSync(root, { recursive: true }));

const put = (name: string, size: number): void => writeFileSync(join(root, 'attachments', name), 'x'.repeat(size));

const http = async ({ method, url, headers, body }: FileRequest): Promise<FileAnswer> => {
  const sent: Uint8Array[] = [];
  for await (const chunk of body ?? []) sent.push(chunk);
  seen.push({ method, url: url.href, headers, body: Buffer.concat(sent).toString('latin1') });
  const { status, headers: said = {}, body: text = '' } = answers[method]?.() ?? { status: 200 };
  const chunks = async function* (): AsyncGenerator<Buffer> {
    if (text !== '') yield Buffer.from(text);
  };
  return { status, headers: new Headers(said), body: chunks(), discard: async () => {} };
};

const log: Log = { ...silentLog, warn: (_facts, message) => void warnings.push(message) };

interface PassOptions {
  readonly attachments?: AttachmentsEntry | undefined;
  readonly tool?: string;
  readonly context?: Pick<CallContext, 'caller' | 'sharesFolder'>;
  readonly url?: string;
  readonly entry?: object;
  readonly tokens?: TokenKeeper;
  readonly signal?: AbortSignal;
}

const both: AttachmentsEntry = { outbound: { paramPaths: ['attachments[*]'] }, inbound: { tools: ['get_file'] } };

const pass = (args: JsonObject, options: PassOptions = {}): Promise<PassedCall> => {
  const {
    attachments = both,
    tool = 'get_file',
    context = { caller: 'model' as const },
    url = 'https://mail.test:443/sse',
  } = options;
  const run = createPassthrough({
    volume: createVolume(root),
    http: () => http,
    env: { KEY: 'k' },
    clock: fakeClock(),
    log,
  });
  return run({
    server: 'mail',
    entry: { url, headers: { Authorization: 'Bearer ${KEY}' }, attachments, ...options.entry },
    tokens: options.tokens,
    tool,
    args,
    context,
    signal: options.signal ?? new AbortController().signal,
  });
};

const uploaded = (status: number, body: unknown) => () => ({
  status,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

describe('files that go out', () => {
  it('stand in the arguments below the threshold and are uploaded from it on', async () => {
    put('small.pdf', 262_143);
    put('large.pdf', 262_144);
    answers['POST'] = uploaded(201, { attachmentId: 'h-1' });
    const { args } = await pass({
      to: 'a@b.test',
      attachments: [
        { path: 'attachments/small.pdf', inline: true },
        { path: join(root, 'attachments/large.pdf'), cid: 'c' },
      ],
    });
    const base64Content = Buffer.from('x'.repeat(262_143)).toString('base64');
    expect(args).toEqual({
      to: 'a@b.test',
      attachments: [
        { inline: true, name: 'small.pdf', base64Content },
        { cid: 'c', attachmentId: 'h-1' },
      ],
    });
    expect(seen).toHaveLength(1);
    const [upload] = seen as [Seen];
    expect(upload).toMatchObject({ method: 'POST', url: 'https://mail.test/attachments' });
    expect(upload.headers).toMatchObject({ authorization: 'Bearer k', 'content-length': String(upload.body.length) });
    expect(upload.body).toContain(
      'form-data; name="file"; filename="large.pdf"\r\nContent-Type: application/pdf\r\n\r\nxx',
    );
  });

  it('follow the threshold, the field name and the path of the manifest', async () => {
    put('a"b.txt', 10);
    answers['POST'] = uploaded(200, { ID: 7 });
    const attachments = { ...both, thresholdBytes: 10, uploadFieldName: 'upload', endpointPath: 'files/' };
    const { args } = await pass(
      { attachments: [{ path: 'a"b.txt' }] },
      { attachments, url: 'http://mail.test:3001/x/sse?y' },
    );
    expect(args).toEqual({ attachments: [{ attachmentId: '7' }] });
    expect(seen[0]?.url).toBe('http://mail.test:3001/files');
    expect(seen[0]?.body).toContain('name="upload"; filename="a%22b.txt"');
  });

  it.each<[JsonObject]>([
    [{}],
    [{ attachments: null }],
    [{ attachments: 'a.txt' }],
    [
      {
        attachments: [
          { name: 'a', base64Content: '' },
          { attachmentId: 'h' },
          'a.txt',
          null,
          { path: '' },
          { path: 7 },
        ],
      },
    ],
    [{ files: [{ path: 'a.txt' }] }],
  ])('are not looked for in %j', async (args) => {
    expect((await pass(args)).args).toBe(args);
  });

  it.each([['attachments'], ['a.b[*]'], ['$.attachments[*]'], ['attachments[0]']])(
    'are not looked for at the path %j, which is no list argument',
    async (paramPath) => {
      const args = { attachments: [{ path: 'a.txt' }] };
      expect((await pass(args, { attachments: { outbound: { paramPaths: [paramPath] } } })).args).toBe(args);
    },
  );

  it.each([
    [204, '', 'HTTP 204'],
    [400, '{"attachmentId":"h"}', 'HTTP 400'],
    [200, '', 'attachmentId'],
    [201, '{"ok":true}', 'attachmentId'],
    [200, 'created', 'attachmentId'],
  ])('fail the call when the upload is answered with %s %j', async (status, body, why) => {
    put('a.txt', 1);
    answers['POST'] = uploaded(status, body);
    const call = pass({ attachments: [{ path: 'a.txt' }] }, { attachments: { ...both, thresholdBytes: 0 } });
    await expect(call).rejects.toMatchObject({ code: 'invalid_arguments' });
    await expect(call).rejects.toThrow(why);
    await expect(call).rejects.toThrow('Check the path');
  });

  it.each(['none.txt', '../secret', 'attachments/../../x', '/etc/passwd'])(
    'fail the call when the path is %j',
    async (path) => {
      const call = pass({ attachments: [{ path }] });
      await expect(call).rejects.toMatchObject({ code: 'invalid_arguments' });
      await expect(call).rejects.toThrow(/was not called: .* Check the path: attachments are files in /);
    },
  );

  it('of a program can only stand in the arguments', async () => {
    put('a.txt', 10);
    const entry = { url: undefined, command: 'node' };
    const args = { attachments: [{ path: 'a.txt' }] };
    expect((await pass(args, { entry })).args).toMatchObject({ attachments: [{ name: 'a.txt' }] });
    const attachments = { ...both, thresholdBytes: 10 };
    await expect(pass(args, { entry, attachments })).rejects.toThrow('less than 10');
  });

  it('are sent again with a new token when the server refuses the old one', async () => {
    put('a.txt', 3);
    let token = 'old';
    const tokens: TokenKeeper = {
      isSignedIn: async () => true,
      token: async () => token,
      renew: async () => {
        token = 'new';
        return true;
      },
      secrets: () => [],
    };
    answers['POST'] = () => (seen.length === 1 ? { status: 401 } : { status: 201, body: '{"attachmentId":"h"}' });
    const attachments = { ...both, thresholdBytes: 0 };
    const { args } = await pass({ attachments: [{ path: 'a.txt' }] }, { attachments, tokens, entry: { headers: {} } });
    expect(args).toEqual({ attachments: [{ attachmentId: 'h' }] });
    expect(seen.map(({ headers }) => headers['authorization'])).toEqual(['Bearer old', 'Bearer new']);
    expect(seen[1]?.body).toContain('xxx');
  });
});

describe('a caller', () => {
  it.each([
    ['model', undefined, true],
    ['operator', undefined, true],
    ['client', false, false],
    ['client', true, true],
    ['passthrough', false, false],
    ['passthrough', true, true],
  ] as const)('%s that shares the folder (%s) may use paths: %s', async (caller, sharesFolder, isPassed) => {
    put('a.txt', 1);
    const { args } = await pass({ attachments: [{ path: 'a.txt' }] }, { context: { caller, sharesFolder } });
    expect(args).toMatchObject({ attachments: [isPassed ? { name: 'a.txt' } : { path: 'a.txt' }] });
  });
});

const report = (...texts: string[]): ToolReport => ({ parts: texts.map((text) => ({ type: 'text', text })) });
const received = async (args: JsonObject, given: ToolReport, options?: PassOptions): Promise<Outcome> => {
  const { receive } = await pass(args, options);
  if (!receive) throw new Error('the call does not receive a file');
  return await receive(given);
};
const saved = (outcome: Outcome): { path: string; name: string; size: number; mime: string } =>
  JSON.parse(outcomeText(outcome)) as { path: string; name: string; size: number; mime: string };

describe('the mode "save"', () => {
  it.each<[JsonObject, string]>([
    [{ mode: 'save' }, 'stash'],
    [{ mode: 'SAVE', sizeHint: 262_143 }, 'inline'],
    [{ mode: 'save', sizeHint: 262_144 }, 'stash'],
    [{ mode: 'save', sizeHint: '100' }, 'inline'],
    [{ mode: 'save', sizeHint: 'small' }, 'stash'],
    [{ mode: 'save', sizeHint: '' }, 'stash'],
  ])('of %j is told to the tool as %j', async (args, mode) => {
    expect((await pass(args, { tool: 'Get_File' })).args).toEqual({ ...args, mode });
  });

  it.each<[JsonObject, string]>([
    [{ mode: 'save' }, 'other_tool'],
    [{ mode: 'inline' }, 'get_file'],
    [{ mode: 1 }, 'get_file'],
    [{}, 'get_file'],
  ])('is not meant by %j for %s', async (args, tool) => {
    const passed = await pass(args, { tool });
    expect(passed.args).toBe(args);
    expect(passed.receive).toBeUndefined();
  });
});

describe('a file that the tool keeps', () => {
  it('is downloaded under the name of the answer, and removed from the server', async () => {
    answers['GET'] = () => ({
      status: 200,
      headers: { 'content-disposition': 'attachment; filename="../../q3.pdf"', 'content-type': 'application/pdf; x=y' },
      body: 'bytes',
    });
    answers['DELETE'] = () => ({ status: 404 });
    const outcome = await received({ mode: 'save' }, report('Here:', '{"attachmentId":"a/b","name":"other"}'));
    const path = join(root, 'attachments/q3.pdf');
    expect(saved(outcome)).toEqual({ path, name: 'q3.pdf', size: 5, mime: 'application/pdf' });
    expect(outcome).toMatchObject({ status: 'done', attachments: [{ path }] });
    expect(readFileSync(path, 'utf8')).toBe('bytes');
    expect(seen.map(({ method, url }) => [method, url])).toEqual([
      ['GET', 'https://mail.test/attachments/a%2Fb'],
      ['DELETE', 'https://mail.test/attachments/a%2Fb'],
    ]);
    expect(warnings).toEqual([]);
  });

  it('has the name and type of the result where the answer gives none, and a number when the name is taken', async () => {
    answers['GET'] = () => ({ status: 200, body: 'b' });
    const payload = report('{"id":7,"Name":"a.txt","mimeType":"text/x"}');
    expect(saved(await received({ mode: 'save' }, payload))).toMatchObject({ name: 'a.txt', mime: 'text/x' });
    expect(saved(await received({ mode: 'save' }, payload)).name).toBe('a-2.txt');
    const third = saved(await received({ mode: 'save' }, payload));
    expect(third).toMatchObject({ name: 'a-3.txt', path: join(root, 'attachments/a-3.txt') });
    expect(saved(await received({ mode: 'save' }, report('{"id":7}'))).name).toBe('7');
  });

  it('is saved also when it cannot be removed from the server', async () => {
    answers['GET'] = () => ({ status: 200, body: 'b' });
    answers['DELETE'] = () => {
      throw new Error('cut off');
    };
    expect((await received({ mode: 'save' }, report('{"id":"x"}'))).status).toBe('done');
    await new Promise(setImmediate);
    expect(warnings).toEqual(['a server did not remove a file that was downloaded']);
  });

  it.each<[string, () => { status: number; body?: string }, string]>([
    ['{"id":"x"}', () => ({ status: 404 }), 'HTTP 404'],
    ['{"ok":true}', () => ({ status: 200 }), 'attachmentId'],
    ['{"id":".."}', () => ({ status: 200 }), 'no id of a file'],
    [
      '{"id":"x"}',
      () => {
        throw new Error('cut off');
      },
      'cut off',
    ],
  ])('that cannot be had (%s) is an error that says why', async (payload, answer, why) => {
    answers['GET'] = answer;
    const outcome = await received({ mode: 'save' }, report(payload));
    expect(outcome).toMatchObject({ status: 'failed', failure: { reported: {} } });
    expect(outcomeText(outcome)).toMatch(/its file could not be saved: /);
    expect(outcomeText(outcome)).toContain(why);
    expect(readdirSync(join(root, 'attachments'))).toEqual([]);
  });
});

describe('a file inside the result', () => {
  const small = { mode: 'save', sizeHint: 10 };

  it.each(['base64Content', 'BASE64', 'data'])('is decoded from "%s"', async (key) => {
    const outcome = await received(small, report(JSON.stringify({ [key]: 'AAEC', name: 'a.png' })));
    expect(saved(outcome)).toMatchObject({ name: 'a.png', size: 3, mime: 'image/png' });
    expect([...readFileSync(saved(outcome).path)]).toEqual([0, 1, 2]);
    expect(seen).toEqual([]);
  });

  it('has a name in any case', async () => {
    const outcome = await received(small, report('{"data":"AAEC","contentType":"a/b"}'));
    expect(saved(outcome)).toMatchObject({ name: 'attachment', mime: 'a/b' });
  });

  it.each(['{"data":"no base64!"}', '{"name":"a"}'])('that is none (%s) is an error', async (payload) => {
    expect(outcomeText(await received(small, report(payload)))).toContain('holds no file in base64');
    expect(existsSync(join(root, 'attachments/a'))).toBe(false);
  });
});

it('leaves a result that tells of no file as it is, and says so in the log', async () => {
  const given = report('Sent as a link.', '[1]');
  expect(await received({ mode: 'save' }, given)).toEqual({ status: 'done', ...given });
  expect(warnings).toHaveLength(1);
});
