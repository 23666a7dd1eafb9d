import { generateKeyPair, exportJWK, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GantryFolder, ServingGantry } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { listenOnLoopback } from './fixtures/listen-on-loopback.ts';
import { startModernServer } from './fixtures/modern-server.ts';
import { startRawServer } from './fixtures/raw-server.ts';

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

const serve = async (config: object, mcpServers: object = {}): Promise<ServingGantry> => {
  folder.write('gantry.config.json', config);
  folder.write('mcp.json', { mcpServers });
  return open.use(await folder.serve());
};

const call = async (
  url: string,
  method: string,
  params: object,
  { token, name }: { token?: string; name?: string } = {},
): Promise<{ status: number; headers: Headers; body: unknown }> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
};
const namesIn = (body: unknown): string[] =>
  (body as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);

const makeToken = async (name: string, ...scopes: string[]): Promise<string> => {
  const flags = scopes.flatMap((scope) => ['--scope', scope]);
  const made = await folder.run(['tokens', 'create', name, ...flags]);
  expect(made.code).toBe(0);
  return made.stdout.trim();
};

describe('access tokens', () => {
  it('are made, shown once, listed without themselves and revoked at the command line', async () => {
    const token = await makeToken('laptop');
    expect(token).toMatch(/^gty_[\w-]{43}$/);
    const listed = await folder.json(['tokens', 'list']);
    expect(listed).toMatchObject([0, { tokens: [{ name: 'laptop', scopes: ['mcp'] }] }]);
    expect(JSON.stringify(listed)).not.toContain(token);
    expect(await folder.json(['tokens', 'create', 'Laptop'])).toMatchObject([1, { error: { code: 'record_exists' } }]);
    expect((await folder.run(['tokens', 'revoke', 'laptop'])).stdout).toBe('Token "laptop" is revoked.\n');
    expect(await folder.json(['tokens', 'revoke', 'laptop'])).toMatchObject([1, { error: { code: 'token_unknown' } }]);
    expect((await folder.run(['tokens', 'create', 'x', '--scope', 'root'])).code).toBe(2);
    const taken = await folder.json(['tokens', 'create', 'Token']);
    expect(taken).toMatchObject([2, { error: { code: 'invalid_arguments' } }]);
  });

  it('open what their scope says and nothing more', async () => {
    const mcp = await makeToken('laptop');
    const read = await makeToken('dashboard', 'read');
    const admin = await makeToken('ops', 'admin');
    const gateway = await serve({ serve: { requireToken: true } });
    const url = `${gateway.url}/mcp`;
    expect((await call(url, 'tools/list', {})).status).toBe(401);
    expect((await call(url, 'tools/list', {}, { token: 'gty_wrong' })).headers.get('www-authenticate')).toBe(
      'Bearer error="invalid_token"',
    );
    expect((await call(url, 'tools/list', {}, { token: mcp })).status).toBe(200);
    expect((await call(url, 'tools/list', {}, { token: read })).status).toBe(403);
    const api = async (method: string, path: string, token: string): Promise<number> =>
      (
        await fetch(`${gateway.url}${path}`, {
          method,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(method === 'POST' && { body: '{}' }),
        })
      ).status;
    expect(await api('GET', '/api/v1/servers', mcp)).toBe(403);
    expect(await api('GET', '/api/v1/servers', read)).toBe(200);
    expect(await api('POST', '/api/v1/servers/x/remove', read)).toBe(403);
    expect(await api('POST', '/api/v1/servers/x/remove', admin)).toBe(404);
    // Over the API a tool is called as the operator, past all rules for clients.
    expect(await api('POST', '/api/v1/tools/list_tool_guides/call', mcp)).toBe(403);
    expect(await api('POST', '/api/v1/tools/list_tool_guides/call', read)).toBe(403);
    expect(await api('POST', '/api/v1/tools/list_tool_guides/call', admin)).toBe(200);
    expect(await api('POST', '/api/v1/tokens/laptop/revoke', admin)).toBe(200);
    expect((await call(url, 'tools/list', {}, { token: mcp })).status).toBe(401);
  });

  it('show each client the tasks of its own calls alone, at a server that lists those of all', async () => {
    const tasks: object[] = [];
    const server = open.use(
      await startRawServer({
        'tools/call': () => {
          const task = { taskId: `t${tasks.length}`, status: 'working' };
          tasks.push(task);
          return { task };
        },
        'tasks/list': () => ({ tasks, nextCursor: 'more' }),
      }),
    );
    const [ann, ben] = [await makeToken('ann'), await makeToken('ben')];
    const { url } = await serve({ serve: { requireToken: true } }, { s: { url: server.url } });
    const ask = async (token: string, method: string, params: object): Promise<unknown> => {
      const response = await fetch(`${url}/mcp/s`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      return ((await response.json()) as { result: unknown }).result;
    };
    for (const token of [ann, ben]) await ask(token, 'tools/call', { name: 'a', arguments: {}, task: {} });
    expect(await ask(ann, 'tasks/list', {})).toEqual({ tasks: [tasks[0]], nextCursor: 'more' });
    expect(await ask(ben, 'tasks/list', {})).toEqual({ tasks: [tasks[1]], nextCursor: 'more' });
  });

  it('end with what they opened: a stream breaks off soon after its token was revoked', async () => {
    const [token, admin] = [await makeToken('laptop'), await makeToken('ops', 'admin')];
    const gateway = await serve({ serve: { requireToken: true } });
    const { url } = gateway;
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const opened = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${token}` },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      }),
    });
    await opened.text();
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    const standing = await fetch(`${url}/mcp`, {
      headers: { ...headers, ...session, authorization: `Bearer ${token}` },
    });
    expect(standing.status).toBe(200);
    const read = expect(standing.text()).rejects.toThrow();
    await fetch(`${url}/api/v1/tokens/laptop/revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin}` },
    });
    await read;
    // An everyday end of a stream is no news.
    expect(gateway.stderr()).not.toMatch(/good no longer|\n\s+at /);
  });

  it('let nobody in from elsewhere while there are none', async () => {
    folder.write('mcp.json', { mcpServers: {} });
    const refused = await folder.run(['serve', '--host', '0.0.0.0', '--port', '0']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('gantry tokens create');
  });
});

describe('the rules of a client', () => {
  const rules = {
    serve: {
      requireToken: true,
      clients: {
        laptop: { servers: ['s'], tools: ['s__echo', 's__a*'], mode: 'eager' },
        limited: { callsPerMinute: 2 },
      },
    },
  };

  it('decide which servers and tools it sees and calls, at /mcp and at /mcp/{server} alike', async () => {
    const server = open.use(await startModernServer());
    const [laptop, other] = [await makeToken('laptop'), await makeToken('other')];
    const gateway = await serve(rules, { s: { url: server.url }, t: { url: `${server.url}?t` } });
    const url = `${gateway.url}/mcp`;
    await expect
      .poll(async () => namesIn((await call(`${url}?mode=eager`, 'tools/list', {}, { token: other })).body))
      .toEqual(expect.arrayContaining(['s__picture', 't__picture']));
    const names = namesIn((await call(url, 'tools/list', {}, { token: laptop })).body);
    expect(names.filter((name) => name.includes('__'))).toEqual(['s__add', 's__ask', 's__echo']);
    const hidden = await call(
      url,
      'tools/call',
      { name: 't__echo', arguments: {} },
      { token: laptop, name: 't__echo' },
    );
    expect(hidden.body).toMatchObject({ error: { code: -32_602 } });
    const passed = await call(`${url}/s`, 'tools/list', {}, { token: laptop });
    expect(namesIn(passed.body).sort()).toEqual(['add', 'ask', 'echo']);
    const picture = { name: 'picture', arguments: {} };
    expect((await call(`${url}/s`, 'tools/call', picture, { token: laptop, name: 'picture' })).body).toMatchObject({
      error: { code: -32_602 },
    });
    expect((await call(`${url}/t`, 'tools/list', {}, { token: laptop })).status).toBe(404);
    expect(namesIn((await call(`${url}/t`, 'tools/list', {}, { token: other })).body)).toContain('picture');
  });

  it('hide a server with all that it offers, in the words of one that does not exist', async () => {
    const offering = (who: string) =>
      startRawServer({
        initialize: () => ({
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, resources: {}, prompts: {} },
          serverInfo: { name: who, version: '1' },
        }),
        'tools/list': () => ({ tools: [] }),
        'prompts/list': () => ({ prompts: [{ name: 'plan' }] }),
        'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: `${who} prompt` } }] }),
        'resources/list': () => ({ resources: [{ name: 'doc', uri: 'docs://d' }] }),
        'resources/templates/list': () => ({ resourceTemplates: [] }),
        'resources/read': () => ({ contents: [{ uri: 'docs://d', text: `${who} document` }] }),
      });
    const [hidden, open_] = [open.use(await offering('hidden')), open.use(await offering('shown'))];
    const bob = await makeToken('bob');
    const { url } = await serve(
      { serve: { requireToken: true, clients: { bob: { servers: ['shown', 'ghost'] } } } },
      { hidden: { url: hidden.url }, shown: { url: open_.url } },
    );
    const ask = async (name: string, args: object): Promise<string> =>
      JSON.stringify((await call(`${url}/mcp`, 'tools/call', { name, arguments: args }, { token: bob, name })).body);
    await expect.poll(() => ask('mcp_list_services', {}), { timeout: 20_000 }).toContain('shown');
    expect(namesIn((await call(`${url}/mcp`, 'tools/list', {}, { token: bob })).body)).not.toContain(
      'mcp_register_server',
    );
    const asks: [string, object][] = [
      ['mcp_read_resource', { uri: 'docs://d' }],
      ['mcp_list_resources', {}],
      ['mcp_get_prompt', { prompt_name: 'plan' }],
      ['mcp_get_service_details', {}],
      ['mcp_invoke_tool', { tool_name: 'a', arguments: {} }],
    ];
    for (const [name, args] of asks) {
      const [of, ofNone] = [
        await ask(name, { ...args, server_name: 'hidden' }),
        await ask(name, { ...args, server_name: 'ghost' }),
      ];
      expect(of, name).toContain('There is no server');
      expect(of.replaceAll('hidden', 'ghost'), name).toBe(ofNone);
    }
    expect(await ask('mcp_read_resource', { uri: 'docs://d', server_name: 'shown' })).toContain('shown document');
    expect(await ask('mcp_list_services', {})).not.toContain('hidden');
    expect(await ask('get_tool_guide', { name: 'mcp' })).not.toContain('hidden');
    expect(await ask('hidden__plan-prompt', {})).not.toContain('hidden prompt');
    expect(await ask('shown__plan-prompt', {})).toContain('shown prompt');
    expect(await ask('mcp_register_server', { name: 'x', type: 'sse', url: hidden.url })).toContain('no tool named');
    const listOf = async (server: string): Promise<[number, string]> => {
      const { status, body } = await call(`${url}/mcp/${server}`, 'prompts/list', {}, { token: bob });
      return [status, JSON.stringify(body).replaceAll(server, '…')];
    };
    expect(await listOf('hidden')).toEqual(await listOf('ghost'));
    expect(hidden.count('resources/read') + hidden.count('prompts/get')).toBe(0);
  });

  it('limit its calls, and say when to try again', async () => {
    const server = open.use(await startModernServer());
    const limited = await makeToken('limited');
    const gateway = await serve(rules, { s: { url: server.url } });
    const echo = (url: string, name: string) =>
      call(url, 'tools/call', { name, arguments: { text: 'x' } }, { token: limited, name });
    expect((await echo(`${gateway.url}/mcp/s`, 'echo')).status).toBe(200);
    expect((await echo(`${gateway.url}/mcp/s`, 'echo')).status).toBe(200);
    const refused = await echo(`${gateway.url}/mcp/s`, 'echo');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await echo(`${gateway.url}/mcp`, 's__echo')).body).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('2 calls a minute') as unknown }] },
    });
  });
});

describe('tokens of an authorization server', () => {
  it('are taken when they are signed by it, for this gateway and not expired; clients are told where to get them', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const other = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' };
    const issuerServer = open.use(
      await listenOnLoopback((request, response) => {
        const issuer = `http://${request.headers.host}`;
        response.setHeader('content-type', 'application/json');
        if (request.url === '/.well-known/oauth-authorization-server')
          response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
        else if (request.url === '/keys') response.end(JSON.stringify({ keys: [jwk] }));
        else response.writeHead(404).end();
      }),
    );
    const issuer = new URL(issuerServer.url).origin;
    const gateway = await serve({
      serve: {
        oauth: { issuer, audience: 'https://gantry.example' },
        clients: { 'oauth:clerk': { tools: ['list_tool_guides'] }, 'oauth:clerk#eve': { tools: [] } },
      },
    });
    const sign = (claims: object, options: { key?: CryptoKey; audience?: string; expires?: string } = {}) =>
      new SignJWT({ client_id: 'desk', scope: 'gantry:mcp', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
        .setIssuer(issuer)
        .setAudience(options.audience ?? 'https://gantry.example')
        .setExpirationTime(options.expires ?? '5m')
        .sign(options.key ?? privateKey);
    const url = `${gateway.url}/mcp`;
    const statusWith = async (token: string): Promise<number> => (await call(url, 'tools/list', {}, { token })).status;
    expect(await statusWith(await sign({}))).toBe(200);
    expect(await statusWith(await sign({ scope: 'openid' }))).toBe(403);
    expect(await statusWith(await sign({}, { audience: 'https://other.example' }))).toBe(401);
    expect(await statusWith(await sign({}, { expires: '-1m' }))).toBe(401);
    expect(await statusWith(await sign({}, { key: other.privateKey }))).toBe(401);
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const body = Buffer.from(JSON.stringify({ iss: issuer, aud: 'https://gantry.example' })).toString('base64url');
    expect(await statusWith(`${none}.${body}.`)).toBe(401);
    // A rule is for exactly that application, or that person behind it.
    const seenBy = async (claims: object): Promise<number> =>
      namesIn((await call(url, 'tools/list', {}, { token: await sign(claims) })).body).length;
    expect(await seenBy({ client_id: 'clerk' })).toBe(2);
    expect(await seenBy({ client_id: 'clerk', sub: 'ann' })).toBe(2);
    expect(await seenBy({ client_id: 'clerk', sub: 'eve' })).toBe(1);
    for (const other of [
      { client_id: 'Clerk' },
      { client_id: 'clerk#eve' },
      { client_id: 'clerks' },
      { client_id: undefined, sub: 'clerk' },
    ])
      expect(await seenBy(other), JSON.stringify(other)).toBeGreaterThan(2);
    const refused = await call(url, 'tools/list', {});
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${gateway.url}/.well-known/oauth-protected-resource/mcp", scope="mcp"`,
    );
    const metadata: unknown = await (await fetch(`${gateway.url}/.well-known/oauth-protected-resource/mcp`)).json();
    expect(metadata).toMatchObject({ resource: url, authorization_servers: [issuer] });
  });

  it('names the address that clients know, behind a proxy that ends TLS', async () => {
    const issuer = 'https://login.example';
    const gateway = await serve({
      serve: { oauth: { issuer, audience: 'gantry' }, publicUrl: 'https://gantry.example.com' },
    });
    const refused = await call(`${gateway.url}/mcp`, 'tools/list', {});
    expect(refused.headers.get('www-authenticate')).toContain(
      'resource_metadata="https://gantry.example.com/.well-known/oauth-protected-resource/mcp"',
    );
    const metadata: unknown = await (await fetch(`${gateway.url}/.well-known/oauth-protected-resource/mcp`)).json();
    expect(metadata).toMatchObject({ resource: 'https://gantry.example.com/mcp' });
  });

  it('are not called wrong when it cannot be asked for its keys', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    const issuerServer = open.use(await listenOnLoopback((_request, response) => void response.writeHead(500).end()));
    const issuer = new URL(issuerServer.url).origin;
    const gateway = await serve({ serve: { oauth: { issuer, audience: 'gantry' } } });
    const token = await new SignJWT({ scope: 'mcp' })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer(issuer)
      .setAudience('gantry')
      .setExpirationTime('5m')
      .sign(privateKey);
    const answer = await call(`${gateway.url}/mcp`, 'tools/list', {}, { token });
    expect([answer.status, answer.body]).toEqual([
      503,
      { error: { code: 'auth_unavailable', message: expect.any(String) as unknown, isRetryable: true } },
    ]);
  });
});
