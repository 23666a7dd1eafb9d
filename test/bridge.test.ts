import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { ServiceDetails } from '../packages/gantry/src/mcp/wire/manage-messages.ts';
import { manageMessageTypes } from '../packages/gantry/src/mcp/wire/manage-messages.ts';
import { startBridge } from './fixtures/bridge-harness.ts';
import { startModernServer } from './fixtures/modern-server.ts';
import { startSseServer, startStatefulServer } from './fixtures/older-servers.ts';

describe('a bridge to a server of 2026', () => {
  it('calls its tools, gives structured values, keeps unknown members and relays progress', async () => {
    await using server = await startModernServer();
    await using t = await startBridge({ Modern: { url: server.url } });
    await t.bridge.ready();
    expect(t.bridge.server('modern')).toMatchObject({
      state: 'connected',
      transport: 'streamable-http',
      protocolVersion: '2026-07-28',
      tools: 8,
      prompts: 1,
      resources: 1,
    });
    expect(await t.call('modern', 'echo', { text: 'hi' })).toEqual({
      status: 'done',
      parts: [{ type: 'text', text: 'hi' }],
      structured: undefined,
      meta: { 'example.com/kept': 1 },
      attachments: undefined,
    });
    expect(await t.text('MODERN', 'ECHO', '{"text":"by text"}')).toBe('by text');
    expect(await t.call('modern', 'add', { a: 1, b: 2 })).toMatchObject({ status: 'done', structured: { sum: 3 } });
    expect(await t.text('modern', 'region', { region: 'north' })).toBe('north');
    expect(await t.text('modern', 'count', {}, { correlationId: 'c-1' })).toBe('counted');
    expect(t.progress).toEqual([
      { correlationId: 'c-1', body: { progress: 1, total: 2 } },
      { correlationId: 'c-1', body: { progress: 2, total: 2 } },
    ]);
    expect(await t.text(undefined, 'echo', { text: 'unnamed server' })).toBe('unnamed server');
  });

  it("hands on the tool's own error as it is, and ends a call whose server asks again and again", async () => {
    await using server = await startModernServer();
    await using t = await startBridge({ modern: { url: server.url, elicitation: { mode: 'decline' } } });
    await t.bridge.ready();
    expect(await t.call('modern', 'fail')).toMatchObject({
      status: 'failed',
      failure: { reported: { parts: [{ text: 'Order 17 not found. Known orders: 15, 16.' }] } },
    });
    expect(await t.text('modern', 'ask')).toMatch(/Server "modern" kept asking before it ran tool "ask"/);
    expect(await t.call('modern', 'echo', { text: 5 })).toMatchObject({ status: 'failed' });
  });

  it('saves a picture for a model and leaves it alone for a client without the folder', async () => {
    await using server = await startModernServer();
    await using t = await startBridge({ modern: { url: server.url } });
    const forModel = await t.call('modern', 'picture');
    if (forModel.status !== 'done') throw new Error('the call failed');
    const [file] = forModel.attachments ?? [];
    expect(file).toMatchObject({
      mime: 'image/png',
      size: 70,
      name: expect.stringMatching(/^picture-[0-9a-f]{8}\.png$/) as string,
    });
    expect(await readFile(file?.path ?? '')).toHaveLength(70);
    expect(forModel.parts[0]).toEqual({ type: 'text', text: 'chart:' });
    expect(JSON.parse((forModel.parts[1] as { text: string }).text)).toMatchObject({ path: file?.path, size: 70 });
    const forClient = await t.call('modern', 'picture', {}, { context: { caller: 'client' } });
    expect(forClient).toMatchObject({ parts: [{ type: 'text' }, { type: 'image' }] });
    const forOperator = await t.call('modern', 'picture', {}, { context: { caller: 'operator' } });
    expect(forOperator).toMatchObject({ parts: [{ type: 'text' }, { type: 'image' }], attachments: [{ size: 70 }] });
  });

  it('gives a call up by closing its request', async () => {
    await using server = await startModernServer();
    await using t = await startBridge({ modern: { url: server.url } });
    const call = t.text('modern', 'wait', {}, { correlationId: 'w' });
    await server.waiting;
    await t.cancel('w');
    expect(await call).toBe('The call to tool "wait" was cancelled by its caller.');
    await server.givenUp;
  });

  it('announces the server, answers for its details, and announces a tool that comes later', async () => {
    await using server = await startModernServer();
    await using t = await startBridge({ modern: { url: server.url } });
    const { servers } = await t.untilIndexed((message) => message.servers.length > 0);
    expect(servers[0]).toMatchObject({
      serverName: 'modern',
      displayName: 'Modern server',
      version: '2.0.0',
      toolCount: 8,
      promptNames: ['greet'],
      summary: expect.stringContaining('8 tools: echo, add') as string,
    });
    expect(servers[0]?.serverId).toMatch(/^[0-9a-f]{12}$/);
    const reply = await t.ask(manageMessageTypes.getDetails, { serverName: 'MODERN', toolName: 'Add' });
    expect(reply.messageType).toBe(manageMessageTypes.details);
    const details = reply.body as ServiceDetails;
    expect(details.server).toMatchObject({ name: 'modern', implementationName: 'modern', instructions: 'Be kind.' });
    expect(details.tools.map((tool) => [tool.name, tool.outputSchema?.['type']])).toEqual([['add', 'object']]);
    server.addTool('later');
    await t.untilIndexed((message) => message.servers[0]?.toolNames.includes('later') ?? false);
    expect(await t.text('modern', 'later')).toBe('later');
  });
});

describe('a bridge to older servers', () => {
  it('speaks the protocol of 2025 and starts a new session when the server forgot the old one', async () => {
    await using server = await startStatefulServer();
    await using t = await startBridge({ old: { url: server.url } });
    await t.bridge.ready();
    expect(t.bridge.server('old')).toMatchObject({ state: 'connected', protocolVersion: '2025-11-25', tools: 1 });
    server.forgetSessions();
    expect(await Promise.all([1, 2, 3].map(() => t.text('old', 'ping')))).toEqual(['pong', 'pong', 'pong']);
    server.addTool('later');
    await t.untilIndexed((message) => message.servers[0]?.toolNames.includes('later') ?? false);
  });

  it.each([400, 404, 405])('falls back to SSE when the first POST is answered with %i', async (status) => {
    await using server = await startSseServer(status);
    await using t = await startBridge({ old: { url: server.url, type: 'http' } });
    await t.bridge.ready();
    expect(t.bridge.server('old')).toMatchObject({ state: 'connected', transport: 'sse' });
    expect(await t.text('old', 'ping')).toBe('pong');
  });

  it.each([
    [401, 'needs_login', 'needs sign-in'],
    [403, 'needs_login', 'needs sign-in'],
    [500, 'unreachable', 'status 500'],
  ])('does not fall back on status %i', async (status, state, mentions) => {
    await using server = await startSseServer(status);
    await using t = await startBridge({ old: { url: server.url } });
    await t.bridge.ready();
    const found = t.bridge.server('old');
    expect(found).toMatchObject({ state });
    expect(found?.lastError).toContain(mentions);
  });
});
