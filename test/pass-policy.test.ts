import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GantryFolder, ServingGantry } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { startModernRawServer } from './fixtures/modern-raw-server.ts';
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

const stdioProgram = fileURLToPath(new URL('./fixtures/stdio-server.ts', import.meta.url));

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

const serve = async (mcpServers: object, config: object = {}): Promise<ServingGantry> => {
  folder.write('mcp.json', { mcpServers });
  folder.write('gantry.config.json', config);
  return open.use(await folder.serve());
};

/** One gateway for all tests of a table, before one server that answers calls and lists as each test says. */
const serveTable = (entry: object = {}) => {
  const stack = new AsyncDisposableStack();
  const table = {
    url: '',
    session: {} as Record<string, string>,
    replies: [] as unknown[],
    answer: undefined as Script | undefined,
    calls: () => 0,
  };
  beforeAll(async () => {
    const script: Script = (request, response) =>
      table.answer?.(request, response) ?? { tools: [toolNamed('a'), toolNamed('echo')] };
    const server = stack.use(
      await startRawServer({ 'tools/call': script, 'tools/list': script }, (reply) => table.replies.push(reply)),
    );
    const place = stack.use(makeGantryFolder());
    place.write('mcp.json', { mcpServers: { s: { url: server.url, ...entry } } });
    table.url = `${stack.use(await place.serve()).url}/mcp/s`;
    table.session = await openSession(table.url);
    table.calls = () => server.count('tools/call');
  });
  beforeEach(() => {
    table.replies.length = 0;
  });
  afterAll(() => stack.disposeAsync());
  return table;
};

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

const send = async (
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Reply> => {
  const response = await fetch(url, {
    method,
    headers: {
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
};

const rpc = (method: string, params?: unknown, id: number | string = 5) => ({ jsonrpc: '2.0', id, method, params });

const hello = (protocolVersion = '2025-11-25') =>
  rpc('initialize', { protocolVersion, capabilities: { elicitation: {} }, clientInfo: { name: 't', version: '1' } });

/** The header by which a client of 2025 names the session that it opened. */
const openSession = async (url: string): Promise<Record<string, string>> => ({
  'mcp-session-id': (await send(url, hello())).headers.get('mcp-session-id') ?? '',
});

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};

const sendModern = (
  url: string,
  method: string,
  params: object,
  headers: Record<string, string> = {},
): Promise<Reply> =>
  send(url, rpc(method, { ...params, _meta: meta }), {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...('name' in params && { 'mcp-name': String(params.name) }),
    ...headers,
  });

const question = (more: object = {}, field = 'password') => ({
  message: 'Q',
  requestedSchema: { type: 'object', properties: { [field]: { type: 'string' } } },
  ...more,
});
const asks = (more: object = {}) => JSON.stringify(rpc('elicitation/create', question(more), 's1'));
const done = JSON.stringify({ jsonrpc: '2.0', id: 5, result: { content: [{ type: 'text', text: 'done' }] } });
const streamOf = (first: string, between = '\n\n'): string => `data: ${first}${between}data: ${done}\n\n`;

const stream = 'text/event-stream';
const inAsciiEscapes = (text: string): string =>
  text.replaceAll(/[a-z](?=[a-z]*\/create)/g, (letter) => `\\u00${letter.codePointAt(0)?.toString(16)}`);

/** How a server may write its question for a password, and the answer to the call behind it. */
const spellings: readonly (readonly [string, string, string])[] = [
  ['plainly', stream, streamOf(asks())],
  ['with an escaped slash', stream, streamOf(asks().replace('elicitation/create', String.raw`elicitation\/create`))],
  ['in escapes', stream, streamOf(inAsciiEscapes(asks()))],
  ['in a list in a stream', stream, streamOf(`[${asks()}]`)],
  ['in a list with the answer', 'application/json', `[${asks()},${done}]`],
  ['behind a byte order mark', stream, `\uFEFF${streamOf(asks())}`],
  ['with mixed line ends', stream, streamOf(asks(), '\n\r\n')],
  ['with carriage returns', stream, streamOf(asks(), '\r\r')],
  ['in several lines', stream, streamOf(asks().replace(',"method"', ',\ndata:"method"'))],
  ['in a stream in capitals', 'Text/Event-Stream', streamOf(asks())],
  ['in a stream with a charset', `${stream}; charset=utf-7`, streamOf(asks())],
  ['in form mode', stream, streamOf(asks({ mode: 'form' }))],
  ['in a mode that does not exist', stream, streamOf(asks({ mode: 'FORM' }))],
  ['in no mode', stream, streamOf(asks({ mode: null }))],
  ['on a page with fields', stream, streamOf(asks({ mode: 'url', url: 'https://a.example/' }))],
];

const call = (name = 'a', args: object = {}) => rpc('tools/call', { name, arguments: args });

describe('a question for a password in the middle of a call', () => {
  const table = serveTable();

  it.each(spellings)('does not reach the client when it is written %s', async (_how, type, body) => {
    table.answer = (_request, response) => endWithBody(response, type, body);
    const reply = await send(table.url, call(), table.session);
    expect(reply.text).not.toContain('password');
    expect(reply.text).toContain('done');
    expect(reply.headers.get('content-type')).not.toContain('utf-7');
    expect(table.replies).toEqual([{ jsonrpc: '2.0', id: 's1', result: { action: 'decline' } }]);
  });

  it.each([
    ['no JSON, in a stream', stream, streamOf(`${asks().slice(0, -1)},}`)],
    ['no JSON', 'application/json', `${asks().slice(0, -1)},}`],
    ['JSON in UTF-16', 'application/json', Buffer.from(asks(), 'utf16le').toString('utf8')],
    ['members in another case', stream, streamOf(asks().replace('"method"', '"Method"'))],
    ['an answer as JSON that says it is a stream', 'application/json, text/event-stream', asks()],
    ['a question for an answer', 'application/json', asks()],
  ])('does not reach the client as %s, which nobody can judge', async (_how, type, body) => {
    table.answer = (_request, response) => endWithBody(response, type, body);
    const reply = await send(table.url, call(), table.session);
    expect(reply.text.replaceAll('\0', '')).not.toContain('password');
  });

  const text = { type: 'string' };
  const asking = (properties: object, more: object = {}) => ({
    message: 'Q',
    requestedSchema: { type: 'object', properties },
    ...more,
  });
  const page = (url: string, more: object = {}) => ({ mode: 'url', message: 'Q', url, ...more });
  it.each([
    ['a form that asks by its message', asking({ value: text }, { message: 'Enter your GitHub password' })],
    ['a form that asks late in a title', asking({ value: { ...text, title: `${'a '.repeat(200)}password` } })],
    ['a form with members that nobody reads', asking({ value: { ...text, Title: 'Password' } })],
    ['a form for what is hidden while it is written', asking({ value: { ...text, format: 'password' } })],
    ['a form in other letters', asking({ 'p\u0430ssw0rd': text })],
    ['a form with a page', asking({ value: text }, { url: 'javascript:alert(1)' })],
    ['a page in another case', page('https://pages.example/', { mode: 'URL' })],
    ['a page with a second address', page('https://pages.example/', { URL: 'javascript:alert(1)' })],
    ['a page whose host readers disagree on', page(String.raw`https://good.example\@evil.example/`)],
    ['a page whose host looks like another', page('https://p\u0430ypal.example/')],
    ['a page that is not encrypted', page('http://pages.example/')],
    ['a page that is a program', page('javascript:alert(1)')],
  ])('is declined when it is %s', async (_what, params) => {
    const written = JSON.stringify(rpc('elicitation/create', params, 's1'));
    table.answer = (_request, response) => endWithBody(response, stream, streamOf(written));
    const reply = await send(table.url, call(), table.session);
    expect(reply.text).not.toContain('elicitation/create');
    expect(table.replies).toEqual([{ jsonrpc: '2.0', id: 's1', result: { action: 'decline' } }]);
  });

  it.each([['https://pages.example'], ['https://pages.example/a?b=c#d'], ['http://127.0.0.1:8080/']])(
    'goes on as it is written when it is the page %s',
    async (url) => {
      const written = JSON.stringify(rpc('elicitation/create', page(url), 's1'));
      table.answer = (_request, response) => endWithBody(response, stream, streamOf(written));
      expect((await send(table.url, call(), table.session)).text).toBe(streamOf(written));
    },
  );

  it('is not answered twice where members are: the client reads what was judged', async () => {
    const text = done.replace('"id":5', `"id":5,"method":"elicitation/create","method":"notifications/x"`);
    table.answer = (_request, response) => endWithBody(response, 'application/json', text);
    expect((await send(table.url, call(), table.session)).text).toBe(JSON.stringify(JSON.parse(text)));
  });

  it('leaves every other event exactly as it was written', async () => {
    const before = 'id: 1\rdata: {"jsonrpc":"2.0","method":"notifications/x"}\r\r: still here\r\n\r\n';
    const after = `event: message\ndata: {"jsonrpc":"2.0","id":"s2","method":"elicitation\\/create","params":${JSON.stringify(question({}, 'city'))}}\n\ndata:${done}\n\n`;
    table.answer = (_request, response) => endWithBody(response, stream, `${before}data: ${asks()}\n\n${after}`);
    expect((await send(table.url, call(), table.session)).text).toBe(before + after);
  });
});

describe('a question for a password of a server of 2026', () => {
  const round = (requests: object, more: object = {}) => ({
    resultType: 'input_required',
    requestState: 'st',
    inputRequests: requests,
    ...more,
  });
  const password = { method: 'elicitation/create', params: question() };
  const city = { method: 'elicitation/create', params: question({}, 'city') };

  it.each([
    ['with an escaped slash', (text: string) => text.replace('elicitation/create', String.raw`elicitation\/create`)],
    ['in a list', (text: string) => `[${text}]`],
    ['in a mode that does not exist', (text: string) => text.replace('"message"', '"mode":"FORM","message"')],
  ])('is declined when it is written %s', async (_how, write) => {
    const answers: unknown[] = [];
    const server = open.use(
      await startModernRawServer('a', ({ id, params }, response) => {
        if (params?.['inputResponses'] === undefined) {
          const asked = JSON.stringify({ jsonrpc: '2.0', id, result: round({ k: password }) });
          return endWithBody(response, 'application/json', write(asked));
        }
        answers.push(params['inputResponses']);
        return { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };
      }),
    );
    const url = `${(await serve({ s: { url: server.url } })).url}/mcp/s`;
    const { text } = await sendModern(url, 'tools/call', { name: 'a', arguments: {} });
    expect([text.includes('password'), text.includes('done')]).toEqual([false, true]);
    expect(answers).toEqual([{ k: { action: 'decline' } }]);
  });

  it('is given up when it comes again and again', async () => {
    const server = open.use(await startModernRawServer('a', () => round({ k: password })));
    const url = `${(await serve({ s: { url: server.url } })).url}/mcp/s`;
    const { text } = await sendModern(url, 'tools/call', { name: 'a', arguments: {} });
    expect(text).toContain('kept asking');
    expect(server.count('tools/call')).toBe(21);
  });

  it.each([
    ['alone', { k: password }, undefined, 'working'],
    ['beside another', { k: password, c: city }, { c: city }, 'input_required'],
  ])('is declined when a task asks it %s', async (_how, requests, left, status) => {
    const updates: unknown[] = [];
    const server = open.use(
      await startModernRawServer('a', () => ({}), {
        'tasks/get': () => ({
          resultType: 'complete',
          taskId: 't-ö',
          status: 'input_required',
          inputRequests: requests,
        }),
        'tasks/update': ({ params, headers }) => {
          updates.push([params?.['taskId'], params?.['inputResponses'], headers['mcp-method'], headers['mcp-name']]);
          return { resultType: 'complete' };
        },
      }),
    );
    const url = `${(await serve({ s: { url: server.url } })).url}/mcp/s`;
    const { text } = await sendModern(url, 'tasks/get', { taskId: 't-ö' }, { 'mcp-name': '=?base64?dC3Dtg==?=' });
    const { result } = JSON.parse(text) as { result: Record<string, unknown> };
    expect([result['status'], result['inputRequests']]).toEqual([status, left]);
    expect(updates).toEqual([['t-ö', { k: { action: 'decline' } }, 'tasks/update', '=?base64?dC3Dtg==?=']]);
  });

  it('is declined when a notice of a task brings it', async () => {
    const updates: unknown[] = [];
    const server = open.use(
      await startModernRawServer('a', () => ({}), {
        'subscriptions/listen': ({ id }, response) => {
          const params = { taskId: 't', status: 'input_required', inputRequests: { k: password } };
          writeEvent(response, { jsonrpc: '2.0', method: 'notifications/tasks', params });
          writeEvent(response, { jsonrpc: '2.0', id, result: { resultType: 'complete' } });
          response.end();
          return written;
        },
        'tasks/update': ({ params }) => {
          updates.push(params?.['inputResponses']);
          return { resultType: 'complete' };
        },
      }),
    );
    const url = `${(await serve({ s: { url: server.url } })).url}/mcp/s`;
    const { text } = await sendModern(url, 'subscriptions/listen', { notifications: { taskIds: ['t'] } });
    expect(text).toContain('"status":"working"');
    expect(text).not.toContain('password');
    expect(updates).toEqual([{ k: { action: 'decline' } }]);
  });

  it('leaves a state of the server alone that looks like one of Gantry', async () => {
    const server = open.use(
      await startModernRawServer('a', ({ params }) =>
        params?.['requestState'] === undefined
          ? round({ c: city }, { requestState: 'gantry.parked.file-1.AAAA' })
          : { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(params['requestState']) }] },
      ),
    );
    const url = `${(await serve({ s: { url: server.url } })).url}/mcp/s`;
    const first = JSON.parse((await sendModern(url, 'tools/call', { name: 'a' })).text) as {
      result: { requestState: string };
    };
    const { requestState } = first.result;
    const inputResponses = { c: { action: 'decline' } };
    const { text } = await sendModern(url, 'tools/call', { name: 'a', requestState, inputResponses });
    expect(text).toContain(JSON.stringify({ text: JSON.stringify('gantry.parked.file-1.AAAA') }).slice(1, -1));
  });

  it('keeps its decline when the client answers the rest, and gives nothing for a state that was changed', async () => {
    const seen: unknown[] = [];
    const server = open.use(
      await startModernRawServer('a', ({ params }) => {
        if (params?.['requestState'] === undefined) return round({ k: password, c: city });
        seen.push([params['requestState'], params['inputResponses']]);
        return { resultType: 'complete', content: [] };
      }),
    );
    const url = `${(await serve({ s: { url: server.url } })).url}/mcp/s`;
    const first = JSON.parse((await sendModern(url, 'tools/call', { name: 'a' })).text) as {
      result: { requestState: string };
    };
    const { requestState } = first.result;
    const given = { k: { action: 'accept', content: { password: 'x' } }, c: { action: 'decline' } };
    await sendModern(url, 'tools/call', { name: 'a', requestState, inputResponses: given });
    const forged = `${requestState.slice(0, -2)}xx`;
    await sendModern(url, 'tools/call', { name: 'a', requestState: forged, inputResponses: given });
    // What does not open is a text like any other that a client may send, and holds nothing of the server.
    expect(seen).toEqual([
      ['st', { k: { action: 'decline' }, c: { action: 'decline' } }],
      [forged, given],
    ]);
  });
});

describe('a message whose bytes other readers decode differently', () => {
  const table = serveTable({ deniedTools: ['echo'] });
  const hidden =
    '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","x":"+ACIALAAi-name+ACIAOgAi-echo"}}';

  it('is refused at both addresses when it says that it is not in UTF-8', async () => {
    const before = table.calls();
    const headers = { ...table.session, 'content-type': 'application/json; charset=utf-7' };
    for (const url of [table.url, new URL('/mcp', table.url).href])
      expect(await send(url, hidden, headers)).toMatchObject({
        status: 415,
        text: expect.stringContaining('charset=utf-8') as unknown,
      });
    expect(table.calls()).toBe(before);
  });

  it('goes on as what it was judged as, whatever else its headers said', async () => {
    const types: unknown[] = [];
    table.answer = ({ headers }) => {
      types.push([headers['content-type'], headers['content-encoding']]);
      return { content: [] };
    };
    await send(table.url, call(), { ...table.session, 'content-type': 'Application/Json; v="utf-7"; charset=UTF-8' });
    expect(types).toEqual([['application/json', undefined]]);
  });

  it('is refused and not acknowledged when it is an answer that nobody can read for its depth', async () => {
    const answer = `{"jsonrpc":"2.0","id":"s1","result":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    for (const url of [table.url, new URL('/mcp', table.url).href])
      expect(await send(url, answer, table.session)).toMatchObject({
        status: 400,
        text: expect.stringContaining('1000 levels') as unknown,
      });
  });
});

describe('tools that are filtered out', () => {
  const table = serveTable({ deniedTools: ['echo'] });
  const listed = JSON.stringify({ jsonrpc: '2.0', id: 5, result: { tools: [toolNamed('a'), toolNamed('echo')] } });

  it.each([
    ['a list', 'application/json', `[${listed}]`],
    ['a stream behind a byte order mark', stream, `\uFEFFdata: ${listed}\n\n`],
    ['a stream with mixed line ends', stream, `data: ${listed}\n\r\ndata: {}\n\n`],
    ['escapes', 'application/json', listed.replace('"tools"', String.raw`"\u0074ools"`)],
    ['another case', 'application/json', listed.replace('"tools"', '"Tools"')],
  ])('are not listed in %s', async (_how, type, body) => {
    table.answer = (_request, response) => endWithBody(response, type, body);
    expect((await send(table.url, rpc('tools/list'), table.session)).text).not.toContain('The tool echo');
  });

  it('are not listed when an answer is sent again', async () => {
    const server = open.use(
      await startRawServer({
        GET: ({ headers }, response) =>
          headers['last-event-id'] === 'e1'
            ? endWithBody(response, stream, `id: e2\ndata: ${listed}\n\n`)
            : endWith(response, 405),
      }),
    );
    const url = `${(await serve({ s: { url: server.url, deniedTools: ['echo'] } })).url}/mcp/s`;
    const { text } = await send(url, undefined, { ...(await openSession(url)), 'last-event-id': 'e1' }, 'GET');
    expect(text).toMatch(/^id: e2\ndata: .*The tool a\..*\n\n$/);
    expect(text).not.toContain('The tool echo');
  });

  it.each([
    [{ name: ['echo'] }],
    [{ name: { toString: 'echo' } }],
    [{ Name: 'echo' }],
    [['echo']],
    ['echo'],
    [{ name: 'a', arguments: '{"url":"x"}' }],
    [{ name: 'a', arguments: [{ url: 'x' }] }],
    [{ name: 'a', arguments: null }],
    [{ name: 'a', Arguments: {} }],
  ])('cannot be called, nor guards be passed, with parameters that nobody can judge: %j', async (params) => {
    const { text } = await send(table.url, rpc('tools/call', params), table.session);
    expect(JSON.parse(text)).toMatchObject({ id: 5, error: { code: -32_602 } });
    expect(table.calls()).toBe(0);
  });

  it('cannot be called by a header that names another tool than the body', async () => {
    const server = open.use(await startModernRawServer('a', () => ({ resultType: 'complete', content: [] })));
    const url = `${(await serve({ s: { url: server.url, deniedTools: ['echo'] } })).url}/mcp/s`;
    for (const headers of [{ 'mcp-name': 'echo' }, { 'mcp-method': 'tools/list' }]) {
      const { status, text } = await sendModern(url, 'tools/call', { name: 'a', arguments: {} }, headers);
      expect([status, JSON.parse(text)]).toMatchObject([400, { id: 5, error: { code: -32_020 } }]);
    }
    expect(server.count('tools/call')).toBe(0);
  });
});

describe('a server of both generations', () => {
  const start = (initialize: Script) =>
    startModernRawServer('a', () => ({ content: [] }), {
      'server/discover': () => ({
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        supportedVersions: ['2026-07-28', '2025-11-25'],
        capabilities: { tools: {} },
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'dual', version: '1' } },
      }),
      initialize,
    });
  const welcome: Script = (_request, response) => {
    response.setHeader('mcp-session-id', 'up-1');
    const serverInfo = { name: 'dual', version: '1' };
    return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
  };

  it.each([
    ['HTTP status 503', '2025-11-25', (_request, response) => endWith(response, 503)],
    [
      'HTTP status 406',
      '2025-11-25',
      (_request, response) => endWith(response, 406, '{"error":{"code":-32000,"message":"no"}}'),
    ],
    [
      'a revision it does not know',
      '1999-01-01',
      () => {
        throw new RpcError(-32_022, 'Unsupported protocol version');
      },
    ],
  ] satisfies [string, string, Script][])(
    'keeps its clients of 2025 when it answers one of them with %s',
    async (_how, revision, fail) => {
      let isFailing = false;
      const server = open.use(
        await start((request, response) => (isFailing ? fail(request, response) : welcome(request, response))),
      );
      const url = `${(await serve({ s: { url: server.url } })).url}/mcp/s`;
      const session = await openSession(url);
      isFailing = true;
      await send(url, hello(revision));
      isFailing = false;
      expect((await send(url, rpc('tools/list'), session)).status).toBe(200);
      expect((await send(url, hello())).headers.get('mcp-session-id')).toMatch(/^[^~]+\./);
    },
  );

  it('keeps a session that it has opened when it stops opening more', async () => {
    let isNewerOnly = false;
    const server = open.use(
      await start((request, response) => {
        if (isNewerOnly) throw new RpcError(-32_601, 'Method not found');
        return welcome(request, response);
      }),
    );
    const url = `${(await serve({ s: { url: server.url } })).url}/mcp/s`;
    const session = await openSession(url);
    isNewerOnly = true;
    // Clients of 2025 are served in the words of 2026 from now on.
    expect((await send(url, hello())).headers.get('mcp-session-id')).toMatch(/^~/);
    expect((await send(url, rpc('tools/list'), session)).text).toContain('The tool a');
    expect(server.seen.at(-1)?.session).toBe('up-1');
    // Nothing that was found lasts longer than the connection.
    isNewerOnly = false;
    expect((await folder.run(['servers', 'refresh', 's'])).code).toBe(0);
    expect((await send(url, hello())).headers.get('mcp-session-id')).toMatch(/^[^~]+\./);
  });
});

describe('a program', () => {
  let url: string;
  const stack = new AsyncDisposableStack();
  afterAll(() => stack.disposeAsync());
  beforeAll(async () => {
    const place = stack.use(makeGantryFolder());
    place.write('mcp.json', { mcpServers: { s: { command: process.execPath, args: [stdioProgram, 'plain'] } } });
    place.write('gantry.config.json', { mcp: { stdio: 'launch' } });
    url = `${stack.use(await place.serve()).url}/mcp/s`;
  });

  it.each([
    ['POST', rpc('tools/list'), {}, 400],
    ['GET', undefined, {}, 400],
    ['DELETE', undefined, {}, 400],
    ['POST', rpc('tools/list'), { 'mcp-session-id': 'file-1.AAAA' }, 404],
    ['PUT', '{}', {}, 405],
  ])('answers %s without a session that it knows as a server would', async (method, body, headers, status) => {
    const reply = await send(url, body, headers, method);
    expect([reply.status, JSON.parse(reply.text)]).toMatchObject([status, { error: {} }]);
    expect(reply.headers.get('allow')).toBe(status === 405 ? 'GET, POST, DELETE' : null);
  });
});

it('counts calls of tools that do not exist under one name', async () => {
  const server = open.use(await startRawServer());
  const gateway = await serve({ s: { url: server.url } });
  const url = `${gateway.url}/mcp/s`;
  const session = await openSession(url);
  // Counting begins when somebody looks.
  await send(`${gateway.url}/metrics`, undefined, {}, 'GET');
  for (const name of ['a', 'invented-1', 'invented-2']) await send(url, call(name), session);
  const metrics = (await send(`${gateway.url}/metrics`, undefined, {}, 'GET')).text;
  expect(metrics).toContain('s__a');
  expect(metrics).not.toContain('invented');
});

describe.each(['2025', '2026'])('a limit of calls at the same time, for a client of %s', (generation) => {
  it('counts a call until its stream has ended or its client has gone', async () => {
    const waiting: (() => void)[] = [];
    const closed: Promise<unknown>[] = [];
    const server = open.use(
      await startRawServer({
        'tools/call': ({ id, params }, response) => {
          const { progressToken } = (params?.['_meta'] ?? {}) as { progressToken?: unknown };
          writeEvent(response, {
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken, progress: 1 },
          });
          closed.push(once(response, 'close'));
          waiting.push(() => {
            writeEvent(response, { jsonrpc: '2.0', id, result: { content: [] } });
            response.end();
          });
          return written;
        },
      }),
    );
    const config = { serve: { clients: { '*': { maxConcurrentCalls: 1 } } } };
    const url = `${(await serve({ s: { url: server.url } }, config)).url}/mcp/s`;
    const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'a' };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(generation === '2026' ? modern : await openSession(url)),
    };
    const body = JSON.stringify(
      rpc('tools/call', { name: 'a', _meta: { ...(generation === '2026' && meta), progressToken: 'p' } }),
    );
    const start = (signal?: AbortSignal) => fetch(url, { method: 'POST', headers, body, ...(signal && { signal }) });
    /** A call whose stream has begun. */
    const begin = async (signal?: AbortSignal) => {
      const reader = ((await start(signal)).body as ReadableStream<Uint8Array>).getReader();
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain('notifications/progress');
      return reader;
    };

    const first = await begin();
    expect((await start()).status).toBe(429);
    waiting.shift()?.();
    while (!(await first.read()).done);
    const leaving = new AbortController();
    await begin(leaving.signal);
    expect((await start()).status).toBe(429);
    leaving.abort();
    await closed[1];
    await expect
      .poll(async () => {
        const { status } = await start(AbortSignal.timeout(5_000));
        return status;
      })
      .toBe(200);
  });
});
