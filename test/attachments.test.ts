import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toJSONSchema } from 'zod';
import { mcpFileSchema } from '../packages/gantry/src/mcp/bridge/config/server-entry.ts';
import { createArgGuards } from '../packages/gantry/src/mcp/bridge/guards/create-arg-guards.ts';
import { refusalOf, warningsOf } from '../packages/gantry/src/mcp/bridge/server/refusal.ts';
import type { Schema } from '../packages/gantry/src/schema/subschemas.ts';
import { createSchemaValidator } from '../packages/gantry/src/schema/validate.ts';
import { outcomeText } from '../packages/gantry/src/tool/outcome-text.ts';
import { startBridge } from './fixtures/bridge-harness.ts';
import type { RawServer } from './fixtures/raw-server.ts';
import { startRawServer } from './fixtures/raw-server.ts';

const megabyte = 1024 * 1024;

/** A server of mail that keeps files: it tells of each upload, and `download` answers the downloads. */
const startMailServer = async (download: (response: ServerResponse) => void) => {
  const uploads: { bytes: number; sha: string; authorization: string | undefined }[] = [];
  const removed = Promise.withResolvers<string>();
  const server: RawServer = await startRawServer({
    'tools/list': () => ({
      tools: ['send', 'get_file'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    }),
    'tools/call': ({ params }) =>
      params?.['name'] === 'send'
        ? { content: [{ type: 'text', text: JSON.stringify(params['arguments']) }] }
        : { content: [{ type: 'text', text: '{"attachmentId":"f 1","name":"plan.bin"}' }] },
  });
  const [rpc] = server.server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void];
  server.server.removeAllListeners('request');
  server.server.on('request', (request, response) => {
    if (!request.url?.startsWith('/attachments')) return rpc(request, response);
    if (request.method === 'GET') return download(response);
    if (request.method === 'DELETE') {
      removed.resolve(request.url);
      return response.writeHead(204).end();
    }
    const hash = createHash('sha256');
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      hash.update(chunk);
    });
    request.on('end', () => {
      uploads.push({ bytes, sha: hash.digest('hex'), authorization: request.headers.authorization });
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"attachmentId":"h-1"}');
    });
  });
  return { ...server, uploads, removed: removed.promise };
};

const block = { outbound: { paramPaths: ['files[*]'] }, inbound: { tools: ['get_file'] } };

describe('attachments of a server', () => {
  it('are uploaded and downloaded in pieces, larger than any answer may be', async () => {
    await using server = await startMailServer((response) => {
      response.writeHead(200, { 'content-disposition': 'attachment; filename="plan.bin"' });
      for (let piece = 0; piece < 8; piece += 1) response.write(Buffer.alloc(megabyte, piece));
      response.end();
    });
    const entry = { url: server.url, headers: { Authorization: 'Bearer ${KEY}' }, attachments: block };
    await using t = await startBridge(
      { mail: entry },
      { settings: { maxResponseBytes: megabyte }, env: { ...process.env, KEY: 'k' } },
    );
    const folder = join(t.folder, 'shared/attachments');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'large.bin'), Buffer.alloc(5 * megabyte, 7));
    await writeFile(join(folder, 'small.txt'), 'small');
    const sent = await t.text('mail', 'send', { files: [{ path: 'small.txt' }, { path: 'attachments/large.bin' }] });
    expect(JSON.parse(sent)).toEqual({
      files: [{ name: 'small.txt', base64Content: 'c21hbGw=' }, { attachmentId: 'h-1' }],
    });
    expect(server.uploads).toHaveLength(1);
    expect(server.uploads[0]?.bytes).toBeGreaterThan(5 * megabyte);
    expect(server.uploads[0]?.authorization).toBe('Bearer k');

    const outcome = await t.call('mail', 'get_file', { mode: 'save' });
    expect(JSON.parse(outcomeText(outcome))).toEqual({
      path: join(folder, 'plan.bin'),
      name: 'plan.bin',
      size: 8 * megabyte,
      mime: 'application/octet-stream',
    });
    const bytes = await readFile(join(folder, 'plan.bin'));
    expect([bytes.length, bytes[0], bytes.at(-1)]).toEqual([8 * megabyte, 0, 7]);
    expect(await server.removed).toBe('/attachments/f%201');
    expect(server.seen.findLast(({ method }) => method === 'tools/call')?.params?.['arguments']).toEqual({
      mode: 'stash',
    });
  });

  it('that break off leave no file, and the tool has run', async () => {
    await using server = await startMailServer((response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('only this', () => response.destroy());
    });
    await using t = await startBridge({ mail: { url: server.url, attachments: block } });
    const outcome = await t.call('mail', 'get_file', { mode: 'save' });
    expect(outcomeText(outcome)).toMatch(/Tool "get_file" ran, and its file could not be saved: /);
    await expect(readFile(join(t.folder, 'shared/attachments/plan.bin'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('that take longer than the call may end with it', async () => {
    await using server = await startMailServer((response) => void response.writeHead(200).write('slowly'));
    await using t = await startBridge({ mail: { url: server.url, attachments: block } });
    await t.bridge.ready();
    const outcome = await t.call('mail', 'get_file', { mode: 'save' }, { context: { timeoutMs: 300 } });
    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'timeout' } });
  });

  it('outside the folder stop the call before the tool', async () => {
    await using server = await startMailServer((response) => void response.end());
    await using t = await startBridge({ mail: { url: server.url, attachments: block } });
    await mkdir(join(t.folder, 'shared/attachments'), { recursive: true });
    await symlink(t.configPath, join(t.folder, 'shared/attachments/link'));
    for (const path of ['../../mcp.json', t.configPath, 'link']) {
      const outcome = await t.call('mail', 'send', { files: [{ path }] });
      expect(outcome).toMatchObject({ failure: { code: 'invalid_arguments', retry: 'never' } });
    }
    expect(server.count('tools/call')).toBe(0);
  });
});

describe('argument guards', () => {
  const guard = {
    handler: 'path-prefix',
    tools: ['SEND'],
    options: { args: ['folder'], allowedPrefixes: ['/shared'], requireArgs: true },
  };

  it('stop a call of every caller with what is allowed, before files are read', async () => {
    await using server = await startMailServer((response) => void response.end());
    await using t = await startBridge({ mail: { url: server.url, argGuards: [guard], attachments: block } });
    for (const caller of ['model', 'client', 'passthrough', 'operator'] as const) {
      const args = { folder: '/shared/../tmp', files: [{ path: 'none' }] };
      const outcome = await t.call('mail', 'send', args, { context: { caller, sharesFolder: true } });
      expect(outcome).toMatchObject({ failure: { code: 'invalid_arguments', retry: 'never' } });
      expect(outcomeText(outcome)).toMatch(/"folder" is "\/shared\/..\/tmp".*"\/shared"/);
    }
    expect(server.count('tools/call')).toBe(0);
    expect(await t.text('mail', 'send', { folder: '/shared/x' })).toBe('{"folder":"/shared/x"}');
    expect((await t.call('mail', 'get_file', {})).status).toBe('done');
  });

  it('see the paths of attachments as the caller wrote them', async () => {
    await using server = await startMailServer((response) => void response.end());
    const options = {
      schema: {
        properties: { files: { items: { properties: { path: { pattern: '\\.txt$' } }, required: ['path'] } } },
      },
    };
    await using t = await startBridge({
      mail: { url: server.url, argGuards: [{ handler: 'json-schema', options }], attachments: block },
    });
    await mkdir(join(t.folder, 'shared/attachments'), { recursive: true });
    await writeFile(join(t.folder, 'shared/attachments/a.txt'), 'a');
    await writeFile(join(t.folder, 'shared/attachments/a.exe'), 'a');
    expect((await t.call('mail', 'send', { files: [{ path: 'a.txt' }] })).status).toBe('done');
    expect(await t.call('mail', 'send', { files: [{ path: 'a.exe' }] })).toMatchObject({ status: 'failed' });
  });

  it('that cannot be enforced keep the server away until they are corrected', async () => {
    await using server = await startMailServer((response) => void response.end());
    const wrong = { ...guard, options: { args: ['folder'], allowedPrefixes: [] } };
    await using t = await startBridge({ mail: { url: server.url, argGuards: [wrong] } });
    await t.bridge.ready();
    expect(t.bridge.server('mail')).toMatchObject({ state: 'refused' });
    expect(t.log).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining('"allowedPrefixes"') as string }),
    );
    expect(await t.call('mail', 'send', {})).toMatchObject({ failure: { code: 'tool_not_found' } });
    expect(server.count('initialize')).toBe(0);
    await t.write({ mail: { url: server.url, argGuards: [guard], id: t.bridge.server('mail')?.id } });
    await t.bridge.reload();
    expect(t.bridge.server('mail')).toMatchObject({ state: 'connected' });
    expect((await t.call('mail', 'send', { folder: '/shared' })).status).toBe('done');
  });
});

describe('the page about them', async () => {
  const page = await readFile(new URL('../docs/attachments-and-guards.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(
    ([, text]) => JSON.parse(text as string) as unknown,
  );

  it('shows entries that can be connected as they are', () => {
    expect(examples).toHaveLength(4);
    const guards = createArgGuards();
    for (const example of examples)
      for (const [name, entry] of Object.entries(mcpFileSchema.parse(example).mcpServers)) {
        expect(refusalOf(entry, { stdio: 'off', argGuards: guards, env: {}, authProfiles: new Set() })).toBeUndefined();
        expect(warningsOf(name, entry)).toEqual([]);
      }
  });

  it('shows entries in which every field is known', () => {
    const strict = JSON.stringify(toJSONSchema(mcpFileSchema)).replaceAll(
      '"additionalProperties":{}',
      '"additionalProperties":false',
    );
    for (const example of examples)
      expect(createSchemaValidator().validate(JSON.parse(strict) as object as Schema, example)).toEqual([]);
  });
});
