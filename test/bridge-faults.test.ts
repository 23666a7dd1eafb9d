import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { outcomeText } from '../packages/gantry/src/tool/outcome-text.ts';
import { fakeClock } from '../packages/gantry/src/testing/fake-clock.ts';
import { startBridge } from './fixtures/bridge-harness.ts';
import type { Script } from './fixtures/raw-server.ts';
import {
  endWith,
  endWithBody,
  RpcError,
  startRawServer,
  toolNamed,
  writeEvent,
  written,
} from './fixtures/raw-server.ts';

const text = (value: string): unknown => ({ content: [{ type: 'text', text: value }] });
const never: Script = () => written;
const broken = (response: Parameters<Script>[1]): typeof written => {
  response.destroy();
  return written;
};

describe('connecting', () => {
  it('lets a server that never answers initialize delay nobody', async () => {
    await using hanging = await startRawServer({ initialize: never });
    await using good = await startRawServer();
    const clock = fakeClock();
    await using t = await startBridge(
      { hang: { url: hanging.url }, ok1: { url: good.url }, ok2: { url: `${good.url}?2` } },
      { clock, settings: { connectTimeoutMs: 300 } },
    );
    await t.untilState((bridge) => ['ok1', 'ok2'].every((name) => bridge.server(name)?.state === 'connected'));
    await hanging.until('initialize');
    expect(t.bridge.server('hang')?.state).toBe('connecting');
    await clock.advance(300);
    await t.bridge.ready();
    expect(t.bridge.server('hang')).toMatchObject({
      state: 'unreachable',
      lastError: 'Server "hang" did not complete initialize within 300 ms.',
    });
  });

  it('tries a server that is down again after 2 s and 4 s, and then leaves it alone for a minute', async () => {
    let isUp = false;
    await using server = await startRawServer({
      'server/discover': (_request, response) => {
        if (!isUp) return endWith(response, 500, 'starting');
        throw new RpcError(-32_601, 'Method not found');
      },
    });
    const clock = fakeClock();
    await using t = await startBridge({ s: { url: server.url } }, { clock });
    await t.bridge.ready();
    expect(t.bridge.server('s')?.lastError).toContain('status 500: starting');
    for (const [waitMs, attempts, state] of [
      [1_999, 1, 'unreachable'],
      [1, 2, 'unreachable'],
      [4_000, 3, 'quarantined'],
    ] as const) {
      await clock.advance(waitMs);
      await server.until('server/discover', attempts);
      expect(server.count('server/discover')).toBe(attempts);
      await t.untilState((bridge) => bridge.server('s')?.state === state);
    }
    isUp = true;
    expect(await t.text('s', 'echo')).toMatch(/keeps failing and is left alone for another 60 s.*status 500: starting/);
    expect(server.count('server/discover')).toBe(3);
    await clock.advance(60_000);
    await t.untilState((bridge) => bridge.server('s')?.state === 'connected');
    expect(await t.text('s', 'echo', { a: 1 })).toBe('{"a":1}');
  });

  it('connects on demand when a call comes, and says why when it cannot', async () => {
    let isUp = false;
    await using server = await startRawServer({
      'server/discover': (_request, response) => {
        if (!isUp) return endWith(response, 503);
        throw new RpcError(-32_601, 'Method not found');
      },
    });
    await using t = await startBridge({ s: { url: server.url } }, { clock: fakeClock() });
    await t.bridge.ready();
    expect(await t.call('s', 'echo')).toMatchObject({
      status: 'failed',
      failure: {
        code: 'tool_not_found',
        message: expect.stringMatching(/registered but not reachable now.*503/) as string,
      },
    });
    isUp = true;
    expect(await t.text('s', 'echo', {})).toBe('{}');
  });

  it('does not take a refused port for an old server', async () => {
    const server = await startRawServer();
    await server[Symbol.asyncDispose]();
    await using t = await startBridge({ s: { url: server.url } }, { clock: fakeClock() });
    await t.bridge.ready();
    expect(t.bridge.server('s')).toMatchObject({ state: 'unreachable', transport: 'auto' });
    expect(t.bridge.server('s')?.lastError).toContain('ECONNREFUSED');
  });

  it('stays away from SSE when a 400 is about the protocol version', async () => {
    await using server = await startRawServer({
      initialize: (_request, response) =>
        endWith(
          response,
          400,
          '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Unsupported protocol version"}}',
        ),
    });
    await using t = await startBridge({ s: { url: server.url } }, { clock: fakeClock() });
    await t.bridge.ready();
    expect(t.bridge.server('s')?.lastError).toContain('Unsupported protocol version');
    expect(server.count('GET')).toBe(0);
  });

  it.each([404, 405, 406, 501])('is content without a standing stream (GET answered with %i)', async (status) => {
    await using server = await startRawServer({ GET: (_request, response) => endWith(response, status) });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    await server.until('GET');
    expect(await t.text('s', 'echo', {})).toBe('{}');
    expect(server.count('GET')).toBe(1);
    expect(t.bridge.server('s')?.state).toBe('connected');
  });

  it('sends the headers of the entry, expanded, and none that come out empty', async () => {
    await using server = await startRawServer();
    await using t = await startBridge(
      { s: { url: server.url, headers: { Authorization: 'Bearer ${TOKEN}', 'X-Gone': '${NOT_SET}' } } },
      { env: { TOKEN: 't0' } },
    );
    await t.bridge.ready();
    expect(server.seen[0]?.headers).toMatchObject({ authorization: 'Bearer t0' });
    expect(server.seen[0]?.headers).not.toHaveProperty('x-gone');
  });

  it('never repeats the secrets of an entry, whatever the server says', async () => {
    const secretsOf: Script = ({ headers, path }, response) =>
      endWith(response, 500, `no ${headers.authorization} at ${path}${'x'.repeat(150)} ${String(headers['x-key'])}`);
    await using refusing = await startRawServer({ 'server/discover': secretsOf });
    await using echoing = await startRawServer({
      'tools/call': ({ headers, params }) => {
        const said = `bad ${headers.authorization}`;
        if (params?.['name'] === 'echo') return text(said);
        throw new RpcError(-32_000, said);
      },
    });
    const headers = { authorization: 'Bearer ${TOKEN}', 'x-key': 'value-of-the-key' };
    await using t = await startBridge(
      { refusing: { url: `${refusing.url}?key=secret-in-url`, headers }, echoing: { url: echoing.url, headers } },
      { env: { TOKEN: 'token of some words' } },
    );
    await t.bridge.ready();
    expect(t.bridge.server('refusing')?.lastError).toContain('no *** at /mcp?key=***xxx');
    expect(await t.text('echoing', 'a')).toContain('answered with error -32000: bad ***');
    const shown = [t.bridge.servers(), t.log, t.log.map(({ facts }) => String((facts['err'] as Error)?.stack))];
    expect(JSON.stringify(shown)).not.toMatch(/token of some|value-of-the|secret-in-url/);
    // What a tool gives as its result is its own affair.
    expect(await t.text('echoing', 'echo')).toBe('bad Bearer token of some words');
  });

  it('refuses a header that HTTP does not allow, and says which', async () => {
    await using server = await startRawServer();
    const entries = {
      name: { headers: { 'bad name': 'secret-value' } },
      value: { headers: { 'x-key': 'secret\nvalue' } },
      variable: { headers: { 'x-key': '${KEY}' } },
    };
    const withUrls = Object.entries(entries).map(([name, entry]) => [name, { url: `${server.url}?${name}`, ...entry }]);
    await using t = await startBridge(Object.fromEntries(withUrls) as object as Record<string, unknown>, {
      env: { KEY: 'secret\u0001value' },
    });
    await t.bridge.ready();
    for (const name of Object.keys(entries)) {
      const status = t.bridge.server(name);
      expect(status).toMatchObject({ state: 'refused' });
      expect(status?.lastError).toContain(name === 'name' ? '"bad name"' : 'header "x-key"');
    }
    await expect(t.bridge.add('added', { url: server.url, ...entries.value })).rejects.toThrow('header "x-key"');
    expect(JSON.stringify([t.bridge.servers(), t.log])).not.toContain('secret');
    expect(server.seen).toEqual([]);
  });
});

describe('listing', () => {
  it('takes all pages, also after an empty one, and sends cursors back unchanged', async () => {
    const pages: Record<string, unknown> = {
      first: { tools: [toolNamed('a'), toolNamed('b')], nextCursor: 'p2' },
      p2: { tools: [], nextCursor: 'p3==' },
      'p3==': { tools: [toolNamed('c')] },
    };
    await using server = await startRawServer({
      'tools/list': ({ params }) => pages[(params?.['cursor'] as string | undefined) ?? 'first'],
    });
    await using t = await startBridge({ s: { url: server.url } });
    const { servers } = await t.untilIndexed((message) => message.servers.length > 0);
    expect(servers[0]?.toolNames).toEqual(['a', 'b', 'c']);
    const cursors = server.seen.filter((seen) => seen.method === 'tools/list').map((seen) => seen.params?.['cursor']);
    expect(cursors).toEqual([undefined, 'p2', 'p3==']);
  });

  it('stops at a cursor that repeats, keeps what came, and warns', async () => {
    await using server = await startRawServer({
      'tools/list': () => ({ tools: [toolNamed('a')], nextCursor: 'same' }),
    });
    await using t = await startBridge({ s: { url: server.url } });
    const { servers } = await t.untilIndexed((message) => message.servers.length > 0);
    expect(servers[0]?.toolNames).toEqual(['a']);
    expect(server.count('tools/list')).toBeLessThanOrEqual(3);
    expect(t.log.filter((line) => line.level === 'warn').map((line) => line.message)).toEqual([
      'Server "s" repeats a cursor in tools/list; the list ends there.',
    ]);
  });

  it('leaves out bad tools one by one', async () => {
    await using server = await startRawServer({
      'tools/list': () => ({
        tools: [
          toolNamed('good'),
          toolNamed('nothing', { inputSchema: null }),
          toolNamed('typo', { inputSchema: { type: 'objekt' } }),
          toolNamed('good', { description: 'another' }),
          { description: 'no name' },
          7,
          toolNamed('also-good', { inputSchema: { type: 'object', properties: { a: true } } }),
          toolNamed('odd', { description: 5, title: [], outputSchema: 'x', annotations: { readOnlyHint: 'yes' } }),
          toolNamed('null', { description: null }),
        ],
      }),
    });
    await using t = await startBridge({ s: { url: server.url } });
    const { servers } = await t.untilIndexed((message) => message.servers.length > 0);
    expect(servers[0]?.toolNames).toEqual(['good', 'also-good', 'odd', 'null']);
    const warning = t.log.find((line) => line.facts['leftOut'] !== undefined);
    expect(warning?.facts['leftOut']).toHaveLength(9);
    expect(warning?.facts['leftOut']).toContain('The description of tool "odd" is unusable and was left out.');
  });

  it.each([{}, { tools: {} }])(
    'says that %j in the place of a list holds no tools, and when that is over',
    async (answer) => {
      let isOdd = true;
      await using server = await startRawServer({
        'tools/list': () => (isOdd ? answer : { tools: [toolNamed('a')] }),
      });
      await using t = await startBridge({ s: { url: server.url } });
      await t.bridge.ready();
      const lastError = 'Server "s" answered tools/list without a list "tools", so nothing of it is offered.';
      expect(t.bridge.server('s')).toMatchObject({ state: 'connected', tools: 0, lastError });
      isOdd = false;
      await t.bridge.refresh('s');
      expect(t.bridge.server('s')).toMatchObject({ state: 'connected', tools: 1 });
      expect(t.bridge.server('s')).not.toHaveProperty('lastError');
    },
  );

  it('keeps the known prompts and has no fingerprint while the prompts cannot be read', async () => {
    let isBroken = false;
    await using server = await startRawServer({
      initialize: (_request, response) => {
        response.setHeader('mcp-session-id', 's');
        return {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, prompts: {} },
          serverInfo: { name: 'raw', version: '1' },
        };
      },
      'prompts/list': () => {
        if (isBroken) throw new RpcError(-32_603, 'broken');
        return { prompts: [{ name: 'p' }] };
      },
    });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const before = t.bridge.server('s')?.fingerprint;
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    isBroken = true;
    await t.bridge.refresh('s');
    expect(t.bridge.server('s')).toMatchObject({ prompts: 1, fingerprint: null });
    isBroken = false;
    await t.bridge.refresh('s');
    expect(t.bridge.server('s')).toMatchObject({ prompts: 1, fingerprint: before });
  });
});

describe('calling', () => {
  it('finds a tool that came after the connection, and fails closed when it cannot list', async () => {
    const tools = [toolNamed('a')];
    let isBroken = false;
    await using server = await startRawServer({
      'tools/list': () => {
        if (isBroken) throw new RpcError(-32_603, 'broken');
        return { tools };
      },
    });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    tools.push(toolNamed('b'));
    expect(await t.text('s', 'b', {})).toBe('{}');
    isBroken = true;
    expect(await t.text('s', 'zebra', {})).toBe('Server "s" has no tool "zebra". Its tools: a.');
    expect(server.count('tools/call')).toBe(1);
    expect(server.count('initialize')).toBe(1);
  });

  it('neither calls nor names a tool that the filters keep back', async () => {
    await using server = await startRawServer({
      'tools/list': () => ({ tools: ['read', 'drop', 'write'].map((name) => toolNamed(name)) }),
    });
    await using t = await startBridge({
      deny: { url: server.url, deniedTools: ['DROP'] },
      allow: { url: `${server.url}?2`, allowedTools: ['Read'], deniedTools: ['read'] },
    });
    await t.bridge.ready();
    expect(await t.text('deny', 'drop', {})).toBe('Server "deny" has no tool "drop". Its tools: read, write.');
    expect(await t.text('allow', 'write', {})).toBe('Server "allow" has no tool "write". Its tools: read.');
    expect(await t.text('allow', 'read', {})).toBe('{}');
    expect(server.count('tools/call')).toBe(1);
  });

  it('explains names that cannot work', async () => {
    await using server = await startRawServer();
    await using t = await startBridge({ Wiki: { url: server.url } });
    await t.bridge.ready();
    expect(await t.text('wikki', 'echo')).toBe('There is no server "wikki".');
    expect(await t.text('wiki', 'wiki__echo')).toBe(
      'Server "Wiki" has no tool "wiki__echo", but it has "echo": pass server_name "Wiki" and tool_name "echo" separately.',
    );
    expect(await t.text('wiki', 'ehco')).toMatch(/Did you mean "echo"/);
    expect(await t.text(undefined, 'nope')).toMatch(/No server has a tool "nope"/);
    expect(await t.call('wiki', 'echo', '{"a": ')).toMatchObject({ failure: { code: 'invalid_arguments' } });
  });

  it('starts one new session for parallel calls that found the old one gone, and gives each call one more try', async () => {
    let isForgotten = false;
    await using server = await startRawServer({
      'tools/call': ({ session }, response) =>
        isForgotten && session === 'session-1' ? endWith(response, 404) : text(`on ${session}`),
    });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    isForgotten = true;
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => t.text('s', 'echo')));
    expect(answers).toEqual(Array.from({ length: 5 }, () => 'on session-2'));
    expect(server.count('initialize')).toBe(2);
    expect(server.seen.filter((seen) => seen.method === 'initialize').map((seen) => seen.session)).toEqual([
      undefined,
      undefined,
    ]);
    expect(server.count('tools/call')).toBe(10);
  });

  it('gives up when the new session is unknown too', async () => {
    await using server = await startRawServer({ 'tools/call': (_request, response) => endWith(response, 404) });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => t.text('s', 'echo')));
    for (const answer of answers) expect(answer).toMatch(/session.*404/i);
    expect(server.count('initialize')).toBeLessThanOrEqual(3);
  });

  it('knows that a server is down when a call has found out, and connects it again when it is back', async () => {
    let isDown = false;
    const refuse: Script = (_request, response) => endWith(response, 503);
    await using server = await startRawServer({
      'tools/call': (request, response) => (isDown ? refuse(request, response) : text('back')),
      'server/discover': (request, response) => {
        if (isDown) return refuse(request, response);
        throw new RpcError(-32_601, 'Method not found');
      },
    });
    const clock = fakeClock();
    await using t = await startBridge({ s: { url: server.url } }, { clock });
    await t.bridge.ready();
    isDown = true;
    expect(await t.call('s', 'a')).toMatchObject({ failure: { code: 'execution_failed', retry: 'later' } });
    await t.untilState((bridge) => bridge.server('s')?.state === 'unreachable');
    isDown = false;
    await clock.advance(2_000);
    await t.untilState((bridge) => bridge.server('s')?.state === 'connected');
    expect(await t.text('s', 'a')).toBe('back');
  });

  it.each([
    ['is not repeated when it may have run', {}, 1, 'failed'],
    ['is repeated once for a read-only tool', { annotations: { readOnlyHint: true } }, 2, 'done'],
  ])('a call whose connection breaks in the middle %s', async (_name, more, calls, status) => {
    let broken = false;
    await using server = await startRawServer({
      'tools/list': () => ({ tools: [toolNamed('t', more)] }),
      'tools/call': (_request, response) => {
        if (broken) return text('second');
        broken = true;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': working\n\n');
        response.destroy();
        return written;
      },
    });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const outcome = await t.call('s', 't');
    expect(outcome.status).toBe(status);
    expect(server.count('tools/call')).toBe(calls);
    expect(await t.text('s', 't')).toBe('second');
  });

  it.each<[string, Record<string, unknown>, Script, RegExp, string]>([
    [
      'before any answer, and may have run',
      {},
      (_request, response) => broken(response),
      /^The connection to server "s" broke before it answered \(.+\); whether the request was carried out is unknown\. Check what it did before you call the tool again\.$/,
      'never',
    ],
    [
      'in the middle of the answer, and may have run',
      {},
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(': working\n\n', () => response.destroy());
        return written;
      },
      /^Server .s. ended the connection before it answered; whether the request was carried out is unknown\. Check what/,
      'never',
    ],
    [
      'before any answer twice, for an idempotent tool',
      { annotations: { idempotentHint: true } },
      (_request, response) => broken(response),
      /whether the request was carried out is unknown\.$/,
      'later',
    ],
    [
      'by what stands before the server, and may have run',
      {},
      (_request, response) => endWith(response, 504, 'too slow'),
      /^Server "s": it answered with status 504: too slow; whether the request was carried out is unknown\. Check/,
      'never',
    ],
  ])('says of a call that was broken off %s', async (_how, more, script, says, retry) => {
    await using server = await startRawServer({
      'tools/list': () => ({ tools: [toolNamed('t', more)] }),
      'tools/call': script,
    });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const outcome = await t.call('s', 't');
    expect(outcome).toMatchObject({ failure: { code: 'execution_failed', retry } });
    expect(outcomeText(outcome)).toMatch(says);
    expect(server.count('tools/call')).toBe(retry === 'never' ? 1 : 2);
  });

  it.each([-32_602, -32_601])(
    'hands on a refusal with %i as an error result, without a new connection',
    async (code) => {
      await using server = await startRawServer({
        'tools/call': () => {
          throw new RpcError(code, 'a is required');
        },
      });
      await using t = await startBridge({ s: { url: server.url } });
      await t.bridge.ready();
      const outcome = await t.call('s', 'echo');
      expect(outcome).toMatchObject({ failure: { code: 'execution_failed', reported: expect.anything() as unknown } });
      expect(outcomeText(outcome)).toMatch(new RegExp(`^MCP error ${code}: a is required`));
      expect(server.count('initialize')).toBe(1);
    },
  );

  it.each<[string, Script]>([
    ['text instead of JSON', (_request, response) => endWithBody(response, 'application/json', '<html>')],
    ['no JSON-RPC', (_request, response) => endWithBody(response, 'application/json', '{"a":1}')],
    ['another content type', (_request, response) => endWithBody(response, 'text/plain', 'hi')],
    [
      'a stream that ends without an answer',
      (_request, response) => endWithBody(response, 'text/event-stream', ': bye\n\n'),
    ],
  ])('ends only the one call on garbage: %s', async (_name, garbage) => {
    await using server = await startRawServer({
      'tools/call': (request, response) =>
        request.params?.['name'] === 'a' ? garbage(request, response) : text('fine'),
    });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const [bad, good] = await Promise.all([t.call('s', 'a'), t.text('s', 'echo')]);
    expect(bad).toMatchObject({ status: 'failed', failure: { code: 'execution_failed' } });
    expect(good).toBe('fine');
    expect(t.bridge.server('s')?.state).toBe('connected');
  });

  it.each<[string, Script]>([
    ['a JSON body with its length', (request, response) => jsonOf(request.id, response, true)],
    ['a JSON body of unknown length', (request, response) => jsonOf(request.id, response, false)],
    [
      'an event of a stream',
      ({ id }, response) => {
        writeEvent(response, { jsonrpc: '2.0', id, result: big });
        response.end();
        return written;
      },
    ],
    [
      'a small body that is large when unpacked',
      ({ id }, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(JSON.stringify({ jsonrpc: '2.0', id, result: big })));
        return written;
      },
    ],
  ])('accepts no answer above maxResponseBytes: %s', async (_name, script) => {
    await using server = await startRawServer({
      'tools/call': (request, response) =>
        request.params?.['name'] === 'a' ? script(request, response) : text('fine'),
    });
    await using t = await startBridge({ s: { url: server.url } }, { settings: { maxResponseBytes: 1_000_000 } });
    await t.bridge.ready();
    const [large, small] = await Promise.all([t.call('s', 'a'), t.text('s', 'echo')]);
    expect(large).toMatchObject({
      status: 'failed',
      failure: { code: 'execution_failed', message: expect.stringContaining('more than 1000000 bytes') as string },
    });
    expect(small).toBe('fine');
    expect(server.count('initialize')).toBe(1);
  });

  it('cancels on the server when the caller does, answers at once, and takes no late answer for another call', async () => {
    let late: (() => void) | undefined;
    await using server = await startRawServer({
      'tools/call': ({ id, params }, response) => {
        if (params?.['name'] !== 'a') return text('next');
        late = () => writeEvent(response, { jsonrpc: '2.0', id, result: text('late') });
        return written;
      },
    });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const slow = t.call('s', 'a', {}, { correlationId: 'k' });
    await server.until('tools/call');
    await t.cancel('k');
    expect(await slow).toMatchObject({
      failure: { code: 'execution_failed', message: 'The call to tool "a" was cancelled by its caller.' },
    });
    await server.until('notifications/cancelled');
    const told = server.seen.find((seen) => seen.method === 'notifications/cancelled');
    const asked = server.seen.find((seen) => seen.method === 'tools/call');
    expect(told?.params).toEqual({ requestId: asked?.id, reason: 'cancelled by the caller' });
    late?.();
    expect(await t.text('s', 'echo')).toBe('next');
  });

  it('times out on the clock, sends the cancellation, and names server and time', async () => {
    await using server = await startRawServer({ 'tools/call': never });
    const clock = fakeClock();
    await using t = await startBridge({ s: { url: server.url, toolTimeoutMs: 1_000 } }, { clock });
    await t.bridge.ready();
    const slow = t.call('s', 'a');
    await server.until('tools/call');
    await clock.advance(1_000);
    expect(await slow).toMatchObject({
      failure: { code: 'timeout', retry: 'later', message: 'Server "s" gave no result for tool "a" within 1000 ms.' },
    });
    await server.until('notifications/cancelled');
  });

  it('lets progress with its own token reset the time-out, up to the ceiling', async () => {
    let stream: ((message: unknown) => void) | undefined;
    await using server = await startRawServer({
      'tools/call': (_request, response) => {
        stream = (message) => writeEvent(response, message);
        stream({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'begun' } });
        return written;
      },
    });
    const clock = fakeClock();
    await using t = await startBridge({ s: { url: server.url } }, { clock, settings: { maxTimeoutMs: 5_000 } });
    await t.bridge.ready();
    const slow = t.call('s', 'a', {}, { context: { timeoutMs: 1_000 }, correlationId: 'p' });
    await server.until('tools/call');
    const token = (server.seen.at(-1)?.params?.['_meta'] as { progressToken: unknown } | undefined)?.progressToken;
    for (let progress = 1; progress <= 12; progress += 1) {
      await clock.advance(400);
      stream?.({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress } });
      while (t.progress.length < progress) await nextTurn();
    }
    await clock.advance(400);
    expect(await slow).toMatchObject({
      failure: { code: 'timeout', message: expect.stringContaining('within 5000 ms, the most') as string },
    });

    const other = t.call('s', 'a', {}, { context: { timeoutMs: 1_000 } });
    await server.until('tools/call', 2);
    stream?.({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'someone-else', progress: 1 },
    });
    await clock.advance(1_000);
    expect(await other).toMatchObject({ failure: { code: 'timeout' } });
  });

  it.each([
    { mode: 'off', offered: {}, elicitation: { error: expect.objectContaining({ code: -32_601 }) as unknown } },
    { mode: 'decline', offered: { elicitation: { form: {} } }, elicitation: { result: { action: 'decline' } } },
  ])(
    'answers every request of a server, offered or not (elicitation $mode)',
    async ({ mode, offered, elicitation }) => {
      const replies: unknown[] = [];
      const methods = ['elicitation/create', 'sampling/createMessage', 'roots/list', 'no/such'];
      const allIn = Promise.withResolvers<void>();
      await using server = await startRawServer(
        {
          'tools/call': async (request, response) => {
            for (const [index, method] of methods.entries())
              writeEvent(response, {
                jsonrpc: '2.0',
                id: `q${index}`,
                method,
                params: { message: 'm', requestedSchema: {} },
              });
            await allIn.promise;
            writeEvent(response, { jsonrpc: '2.0', id: request.id, result: text('done') });
            response.end();
            return written;
          },
        },
        (message) => {
          replies.push(message);
          if (replies.length === methods.length) allIn.resolve();
        },
      );
      await using t = await startBridge({ s: { url: server.url, elicitation: { mode } } });
      await t.bridge.ready();
      const initialize = server.seen.find((seen) => seen.method === 'initialize');
      expect(initialize?.params?.['capabilities']).toEqual(offered);
      expect(await t.text('s', 'a')).toMatch(/^done/);
      const unknown = { error: expect.objectContaining({ code: -32_601 }) as unknown };
      const byId = new Map(replies.map((reply) => [(reply as { id: string }).id, reply]));
      expect(methods.map((_method, index) => byId.get(`q${index}`))).toEqual(
        [elicitation, unknown, unknown, unknown].map((reply) => expect.objectContaining(reply) as unknown),
      );
    },
  );

  it('says which arguments do not fit the schema when the tool fails, but not to a client that is passed through', async () => {
    const inputSchema = { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] };
    await using server = await startRawServer({
      'tools/list': () => ({ tools: [toolNamed('t', { inputSchema })] }),
      'tools/call': () => ({ isError: true, content: [{ type: 'text', text: 'no' }] }),
    });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    expect(await t.text('s', 't', { n: 5 })).toBe('no\n"n" is declared as string but you sent an integer.');
    expect(await t.text('s', 't', { n: 'x' })).toBe('no');
    expect(await t.text('s', 't', { n: 5 }, { context: { caller: 'passthrough' } })).toBe('no');
  });

  it('reads a compressed answer', async () => {
    await using server = await startRawServer({
      'tools/call': ({ id }, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(JSON.stringify({ jsonrpc: '2.0', id, result: text('packed') })));
        return written;
      },
    });
    await using t = await startBridge({ s: { url: server.url } });
    expect(await t.text('s', 'a')).toBe('packed');
  });

  it('follows a redirect inside the origin and none that leaves it', async () => {
    await using server = await startRawServer({
      'tools/call': (request, response) => {
        const url = request.params?.['name'] === 'a' ? '/moved' : 'http://elsewhere.test/mcp';
        if (request.path === '/moved') return text('found');
        response.setHeader('location', url);
        return endWith(response, 307);
      },
    });
    await using t = await startBridge({ s: { url: server.url } });
    expect(await t.text('s', 'a')).toBe('found');
    expect(await t.text('s', 'echo')).toContain('status 307');
  });

  it('passes the trace of the caller on', async () => {
    await using server = await startRawServer();
    await using t = await startBridge({ s: { url: server.url } });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await t.call('s', 'a', {}, { context: { trace: { traceparent } } });
    expect(server.seen.find((seen) => seen.method === 'tools/call')?.params?.['_meta']).toMatchObject({ traceparent });
  });
});

const big = { content: [{ type: 'text', text: 'x'.repeat(3_000_000) }] };

const jsonOf = (id: unknown, response: Parameters<Script>[1], withLength: boolean): typeof written => {
  const body = JSON.stringify({ jsonrpc: '2.0', id, result: big });
  response.writeHead(200, {
    'content-type': 'application/json',
    ...(withLength ? { 'content-length': Buffer.byteLength(body) } : {}),
  });
  response.end(body);
  return written;
};

describe('an answer that is none', () => {
  it.each<[string, Script, RegExp]>([
    ['status 202', (_request, response) => endWith(response, 202), /acknowledged the request \(status 202\)/],
    [
      'one to another request',
      (_request, response) => endWithBody(response, 'application/json', '{"jsonrpc":"2.0","id":"zz","result":{}}'),
      /answered another request than the one it was sent/,
    ],
    [
      'a result that is none',
      (request, response) =>
        endWithBody(response, 'application/json', JSON.stringify({ jsonrpc: '2.0', id: request.id, result: null })),
      /^Server "s": its answer cannot be read \(it does not have a form that MCP knows\)$/,
    ],
    [
      'an error that is none',
      (request, response) =>
        endWithBody(response, 'application/json', JSON.stringify({ jsonrpc: '2.0', id: request.id, error: 'no' })),
      /^Server "s": its answer cannot be read \(it does not have a form that MCP knows\)$/,
    ],
    [
      'one that is too large',
      () => text('x'.repeat(200_000)),
      /^Server .s. answered with more than 100000 bytes \(maxResponseBytes\); ask it for less, or in parts\.$/,
    ],
    [
      'an error to no request',
      (_request, response) =>
        endWithBody(
          response,
          'application/json',
          '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse"}}',
        ),
      /-32700: Parse/,
    ],
  ])('(%s) ends its call at once and no other', async (_what, script, says) => {
    await using server = await startRawServer({ 'tools/call': script });
    await using t = await startBridge(
      { s: { url: server.url } },
      { clock: fakeClock(), settings: { maxResponseBytes: 100_000 } },
    );
    await t.bridge.ready();
    const outcome = await t.call('s', 'a', { id: 'zzz' });
    expect(outcome).toMatchObject({
      failure: { code: 'execution_failed', message: expect.stringMatching(says) as string },
    });
    expect(server.count('tools/call')).toBe(1);
    expect(t.bridge.server('s')?.state).toBe('connected');
  });
});
