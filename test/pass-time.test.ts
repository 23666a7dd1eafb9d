import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { startModernRawServer } from './fixtures/modern-raw-server.ts';
import { startOlderTalkingServer } from './fixtures/older-talking-server.ts';
import type { Script } from './fixtures/raw-server.ts';
import { startRawServer, written } from './fixtures/raw-server.ts';

let folder: GantryFolder;
let open: AsyncDisposableStack;
beforeEach(() => {
  folder = makeGantryFolder();
  open = new AsyncDisposableStack();
});
afterEach(async () => {
  await open.disposeAsync();
  folder[Symbol.dispose]();
});

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const callAt = async (url: string, name: string, capabilities: object = {}): Promise<string> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: {
        name,
        arguments: {},
        _meta: { ...meta, 'io.modelcontextprotocol/clientCapabilities': capabilities, progressToken: 'p' },
      },
    }),
  });
  return await response.text();
};

/** What a client of 2026 gets for a call of a server that is silent in this way; calls may be silent for 500 ms. */
const callOf = async (generation: '2025' | '2026', silent: Script): Promise<string> => {
  const server = open.use(
    generation === '2026' ? await startModernRawServer('a', silent) : await startRawServer({ 'tools/call': silent }),
  );
  folder.write('mcp.json', { mcpServers: { s: { url: server.url, toolTimeoutMs: 500 } } });
  const gateway = open.use(await folder.serve());
  return await callAt(`${gateway.url}/mcp/s`, 'a');
};

const begin = (response: Parameters<Script>[1]): void =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
const say = (response: Parameters<Script>[1], message: object): void =>
  void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);

describe.each(['2026', '2025'] as const)('a call of a client of 2026 to a server of %s', (generation) => {
  it.each<[string, Script]>([
    ['says nothing', () => written],
    [
      'begins an answer and says nothing more',
      (_request, response) => {
        begin(response);
        return written;
      },
    ],
    [
      'only keeps its stream open',
      (_request, response) => {
        begin(response);
        const alive = setInterval(() => response.write(': still here\n\n'), 50);
        response.on('close', () => clearInterval(alive));
        return written;
      },
    ],
  ])('ends with the reason when it %s', async (_what, silent) => {
    const said = await callOf(generation, silent);
    expect(said).toContain('gave no answer within 500 ms; whether the request was carried out is unknown');
    expect(said).toContain('"id":7');
  });
});

it('waits for a person longer than for a server, wherever the server asks', async () => {
  const server = open.use(await startOlderTalkingServer());
  folder.write('mcp.json', { mcpServers: { s: { url: server.url, toolTimeoutMs: 500 } } });
  const gateway = open.use(await folder.serve());
  const silentCall = (): Promise<string> => callAt(`${gateway.url}/mcp/s`, 'wait', { elicitation: { form: {} } });
  const client = new ModernClient(
    { name: 't', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setRequestHandler('elicitation/create', async () => {
    // A call that only waits has had its time by then.
    expect(await silentCall()).toContain('no answer within 500 ms');
    return { action: 'accept', content: { box: 'late' } };
  });
  await client.connect(new ModernTransport(new URL(`${gateway.url}/mcp/s`)));
  for (const name of ['ask', 'ask_aside'])
    expect(JSON.stringify((await client.callTool({ name, arguments: {} })).content), name).toContain('late');
  await client.close();
});

it('goes on while the server reports progress', async () => {
  const answer = await callOf('2026', ({ id }, response) => {
    begin(response);
    let steps = 0;
    const working = setInterval(() => {
      steps += 1;
      if (steps < 6)
        return say(response, { method: 'notifications/progress', params: { progressToken: 'p', progress: steps } });
      clearInterval(working);
      say(response, { id, result: { resultType: 'complete', content: [{ type: 'text', text: 'at last' }] } });
      response.end();
    }, 200);
    return written;
  });
  expect(answer).toContain('at last');
});
