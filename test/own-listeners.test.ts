import { findChromium } from '../packages/gantry/src/web/render/find-chromium.ts';
import { afterEach, expect, it } from 'vitest';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { startServer } from './fixtures/public-web.ts';

// A running gateway with every switch that opens private networks. A server beside it on loopback shows that they are open.

const running: (AsyncDisposable | Disposable)[] = [];
afterEach(async () => {
  for (const one of running.splice(0).toReversed())
    await (Symbol.asyncDispose in one ? one[Symbol.asyncDispose]() : one[Symbol.dispose]());
});

const openGateway = async () => {
  const folder = makeGantryFolder();
  running.push(folder);
  let ownUrl = '';
  const neighbour = await startServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://neighbour.example');
    if (pathname === '/moved') response.writeHead(307, { location: `${ownUrl}/healthz` }).end();
    else if (pathname === '/mcp') response.writeHead(307, { location: `${ownUrl}/mcp` }).end();
    else
      response
        .setHeader('content-type', 'text/html')
        .end(`<p>Here is the neighbour.</p><script>fetch('${ownUrl}/healthz', { mode: 'no-cors' })</script>`);
  });
  running.push(neighbour);
  folder.write('gantry.config.json', {
    rest: {
      tools: {
        anywhere: { description: 'Private by its entry.', url: `http://127.0.0.1:${neighbour.port}/`, private: true },
      },
    },
  });
  const gateway = await folder.serve(['--port', '0'], {
    RUN_ENV: 'development',
    FETCH_URL_ALLOW_PRIVATE_NETWORK: 'true',
  });
  running.push(gateway);
  ownUrl = gateway.url;
  const call = async (tool: string, args: unknown): Promise<{ isError: boolean; content: string }> => {
    const response = await fetch(`${gateway.url}/api/v1/tools/${tool}/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: args }),
    });
    return (await response.json()) as { isError: boolean; content: string };
  };
  return { gateway, neighbour, port: new URL(gateway.url).port, call };
};

const refused = { isError: true, content: expect.stringContaining('listener of Gantry itself') };

it('is never fetched from by the gateway that listens there, whatever its switches open', async () => {
  const { neighbour, port, call } = await openGateway();
  for (const host of ['127.0.0.1', 'localhost', '127.1', '2130706433', '0.0.0.0', '[::1]', '[::]', '[::ffff:7f00:1]'])
    for (const tool of ['fetch_url', 'web_browse'])
      expect(await call(tool, { url: `http://${host}:${port}/healthz` }), host).toMatchObject(refused);
  for (const tool of ['fetch_url', 'web_browse'])
    expect(await call(tool, { url: `http://127.0.0.1:${neighbour.port}/moved` })).toMatchObject(refused);
  const open = await call('fetch_url', { url: `http://127.0.0.1:${neighbour.port}/` });
  expect(open).toMatchObject({ isError: false, content: expect.stringContaining('Here is the neighbour.') });
});

it('is never joined as an MCP server, directly or by a redirect', async () => {
  const { gateway, neighbour, port, call } = await openGateway();
  const register = (name: string, url: string) => call('mcp_register_server', { name, type: 'sse', url });
  for (const [index, url] of [
    `${gateway.url}/mcp`,
    `http://localhost:${port}/mcp`,
    `http://[::1]:${port}/mcp`,
  ].entries())
    expect(await register(`direct${index}`, url), url).toMatchObject(refused);
  const { content } = await register('redirected', `http://127.0.0.1:${neighbour.port}/mcp`);
  expect(content).toContain('it answered with status 307');
  expect(neighbour.asked).toContain('/mcp');
});

it('is refused where the operator names it as a server', async () => {
  const folder = makeGantryFolder();
  running.push(folder);
  folder.write('mcp.json', { mcpServers: {} });
  const gateway = await folder.serve();
  running.push(gateway);
  folder.write('mcp.json', {
    mcpServers: { me: { url: `${gateway.url}/mcp` }, too: { url: `${gateway.url}/mcp/me` } },
  });
  const states = async (): Promise<unknown> => {
    const response = await fetch(`${gateway.url}/api/v1/servers`);
    return JSON.stringify(await response.json());
  };
  await expect.poll(states, { timeout: 10_000 }).toMatch(/refused.*this gateway itself.*refused.*this gateway itself/);
});

it.skipIf(findChromium(process.env) === undefined)(
  'is never shown in the browser, nor asked by a page in it',
  async () => {
    const { gateway, neighbour, port, call } = await openGateway();
    for (const url of [`${gateway.url}/`, `http://localhost:${port}/`, `http://127.0.0.1:${neighbour.port}/moved`])
      expect(await call('web_browse', { url, render: true }), url).toMatchObject(refused);
    const shown = await call('web_browse', { url: `http://127.0.0.1:${neighbour.port}/`, render: true });
    expect(shown.content).toContain('(via headless browser)');
    expect(gateway.stderr()).toMatch(/a request of a rendered page failed/);
  },
);
