import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect as connectSocket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Dial, GuardedClientOptions, Lookup } from 'gantry/net';
import { createGuardedClient, createOwnListeners, guardedFetch, readBody } from 'gantry/net';
import { buildConnector } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';

const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one[Symbol.asyncDispose]();
});

interface TestServer {
  readonly server: Server;
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: () => number;
}

const listen = async (listener: RequestListener, host = '127.0.0.1'): Promise<TestServer> => {
  let connections = 0;
  const server = createServer(listener);
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  running.push({
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  });
  return { server, port: (server.address() as AddressInfo).port, connections: () => connections };
};

const publicAddress = '93.184.215.14';

/** A public address that is answered by a server of ours; every other address is dialled for real. */
const dialPublic = (port: number): Dial => {
  const dial = buildConnector({ allowH2: false });
  return (wanted, callback) =>
    dial(
      wanted.hostname === publicAddress
        ? { ...wanted, protocol: 'http:', hostname: '127.0.0.1', port: String(port) }
        : wanted,
      callback,
    );
};

/** Names of the outside world; an answer list is used up from the front, its last one repeats. */
const names =
  (answers: Readonly<Record<string, string[][]>> = {}): Lookup =>
  async (host) => {
    const rounds = answers[host] ?? [[publicAddress]];
    return (rounds.length > 1 ? rounds.shift() : rounds[0]) ?? [];
  };

const openWeb = async (listener: RequestListener, options: GuardedClientOptions = {}) => {
  const web = await listen(listener);
  const client = createGuardedClient({ lookup: names(), dial: dialPublic(web.port), ...options });
  running.push(client);
  return { ...web, ...client };
};

const refused = (reason: string) =>
  expect.objectContaining({ code: 'address_refused', details: expect.objectContaining({ reason }) });

describe('a server on loopback is never reached', () => {
  const openAttack = async (options: (canaryPort: number) => GuardedClientOptions = () => ({})) => {
    const canary = await listen((_request, response) => response.end('secret'), '::');
    const locations: Record<string, string> = {
      '/plain': `http://127.0.0.1:${canary.port}/`,
      '/name': `http://localhost:${canary.port}/`,
      '/mapped': `http://[::ffff:127.0.0.1]:${canary.port}/`,
      '/scheme-relative': `//127.1:${canary.port}/`,
      '/zero': `http://0:${canary.port}/`,
      '/chain': '/chain2',
      '/chain2': `https://elsewhere.example/plain`,
      '/user': `http://public.example@127.0.0.1:${canary.port}/`,
      '/file': 'file:///etc/passwd',
      '/rebinding': `http://rebinding.example:${canary.port}/`,
    };
    const web = await openWeb((request, response) => {
      response.writeHead(307, { location: locations[request.url ?? ''] ?? '/' }).end('x');
    }, options(canary.port));
    return { canary, web };
  };

  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
    '0.0.0.0',
    '0',
    '①②⑦.0.0.1',
    '１２７.0.0.1',
    '127%2e0%2e0%2e1',
    '127。0。0。1',
    'localhost',
    'LOCALHOST.',
    'localhost%2e',
    'sub.localhost',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    'user@127.0.0.1',
    'public.example@127.0.0.1',
    'public.example:80@127.0.0.1',
  ])('as http://%s/', async (host) => {
    const { canary, web } = await openAttack();
    await expect(web.fetch(`http://${host}:${canary.port}/`)).rejects.toMatchObject({ code: 'address_refused' });
    expect([canary.connections(), web.connections()]).toEqual([0, 0]);
  });

  it.each(['gopher', 'file', 'ftp', 'ws', 'dict', 'ldap'])('by the scheme %s', async (scheme) => {
    const { canary, web } = await openAttack();
    await expect(web.fetch(`${scheme}://127.0.0.1:${canary.port}/`)).rejects.toMatchObject({
      code: 'address_refused',
    });
    expect(canary.connections()).toBe(0);
  });

  it.each(['/plain', '/name', '/mapped', '/scheme-relative', '/zero', '/chain', '/user', '/file'])(
    'by the redirect %s',
    async (path) => {
      const { canary, web } = await openAttack();
      await expect(web.fetch(`http://public.example${path}`)).rejects.toMatchObject({ code: 'address_refused' });
      expect(canary.connections()).toBe(0);
    },
  );

  it.each([
    ['one private answer', [['127.0.0.1']]],
    ['mixed answers', [[publicAddress, '127.0.0.1']]],
    ['a mapped answer', [['::ffff:127.0.0.1']]],
    ['an IPv6 answer', [['::1']]],
    ['the unspecified address', [['0.0.0.0']]],
  ])('by %s of DNS', async (_name, rounds) => {
    const { canary, web } = await openAttack(() => ({ lookup: names({ 'evil.example': rounds }) }));
    await expect(web.fetch(`http://evil.example:${canary.port}/`)).rejects.toEqual(refused('PRIVATE_NETWORK_BLOCKED'));
    expect([canary.connections(), web.connections()]).toEqual([0, 0]);
  });

  it('by an answer of DNS that changes after the check, within one call or between two', async () => {
    const rounds = [[publicAddress], ['127.0.0.1']];
    const { canary, web } = await openAttack(() => ({ lookup: names({ 'rebinding.example': rounds }) }));
    await web.check(`http://rebinding.example:${canary.port}/`);
    await expect(web.fetch('http://public.example/rebinding')).rejects.toMatchObject({ code: 'execution_failed' });
    expect([canary.connections(), rounds.length]).toEqual([0, 1]);
  });

  it('through a proxy that the environment names', async () => {
    const { canary } = await openAttack();
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${canary.port}`;
    try {
      const web = await openWeb((_request, response) => response.end('direct'));
      expect(await (await web.fetch('http://public.example/')).text()).toBe('direct');
      expect(canary.connections()).toBe(0);
    } finally {
      for (const [index, name] of names.entries()) {
        if (before[index] === undefined) delete process.env[name];
        else process.env[name] = before[index];
      }
    }
  });

  it('where it is our own, even with private networks open', async () => {
    const listeners = createOwnListeners();
    const { canary, web } = await openAttack(() => ({
      policy: { production: false, allowPrivateNetwork: true },
      isOwnListener: listeners.isOwnListener,
      lookup: names({ localhost: [['127.0.0.1']], 'innocent.example': [['127.0.0.1']] }),
    }));
    using _ = listeners.add(canary.port);
    for (const host of ['localhost', '127.0.0.1', '0.0.0.0', '[::1]', '[::ffff:127.0.0.1]', 'innocent.example'])
      await expect(web.fetch(`http://${host}:${canary.port}/`)).rejects.toEqual(refused('OWN_LISTENER_BLOCKED'));
    await expect(web.fetch('http://public.example/plain')).rejects.toEqual(refused('OWN_LISTENER_BLOCKED'));
    expect(canary.connections()).toBe(0);
  });
});

describe('an ordinary call', () => {
  it('gives a Response with the landing address, after up to five redirects', async () => {
    const web = await openWeb((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end('moved');
      else response.end('landed');
    });
    const response = await web.fetch('http://public.example/5');
    expect([response.status, response.url, response.redirected, await response.text()]).toEqual([
      200,
      'http://public.example/0',
      true,
      'landed',
    ]);
    await expect(web.fetch('http://public.example/6')).rejects.toThrow(/redirects more than 5 times/);
    expect((await web.fetch('http://public.example/1', { redirect: 'manual' })).status).toBe(302);
    await expect(web.fetch('http://public.example/1', { redirect: 'error' })).rejects.toThrow(/follows none/);
  });

  it('sends method, headers and body, and the host name it was given', async () => {
    const seen: unknown[] = [];
    const web = await openWeb((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        seen.push([request.method, request.headers.host, request.headers['x-a'], body]);
        response.writeHead(201).end();
      });
    });
    const init = { method: 'POST', headers: { 'x-a': '1', host: 'forged' }, body: 'hällo' };
    expect((await web.fetch('http://public.example:8080/', init)).status).toBe(201);
    expect(seen).toEqual([['POST', 'public.example:8080', '1', 'hällo']]);
  });

  it('keeps its connection for the next call, asks DNS once, and survives one that was closed meanwhile', async () => {
    const lookups: string[] = [];
    const lookup: Lookup = async (host) => {
      lookups.push(host);
      return [publicAddress];
    };
    const web = await openWeb((_request, response) => response.end('ok'), { lookup });
    await web.check('http://public.example/');
    for (let call = 0; call < 6; call += 1) await (await web.fetch('http://public.example/')).text();
    // A connection rests for one turn of the event loop before it is used again, so calls back to back alternate between two.
    expect(web.connections()).toBeLessThanOrEqual(2);
    expect(lookups).toEqual(['public.example']);
    web.server.closeAllConnections();
    expect(await (await web.fetch('http://public.example/')).text()).toBe('ok');
  });

  it('works once, without a client of one’s own', async () => {
    const { port } = await listen((_request, response) => response.end('once'));
    const response = await guardedFetch('http://public.example/', {}, { lookup: names(), dial: dialPublic(port) });
    expect(await response.text()).toBe('once');
    await expect(guardedFetch(`http://127.0.0.1:${port}/`)).rejects.toEqual(refused('PRIVATE_NETWORK_BLOCKED'));
  });

  it('reaches private networks where policy opens them', async () => {
    const { port } = await listen((_request, response) => response.end('inside'));
    const options = { policy: { production: true, allowPrivateNetwork: true } };
    expect(await (await guardedFetch(`http://127.0.0.1:${port}/`, {}, options)).text()).toBe('inside');
  });

  it('tunnels through the proxy of an operator to the judged address', async () => {
    const { port } = await listen((_request, response) => response.end('through'));
    const tunnels: unknown[] = [];
    const proxy = await listen((_request, response) => response.end());
    proxy.server.on('connect', (request: IncomingMessage, socket) => {
      tunnels.push([request.url, request.headers['proxy-authorization']]);
      if (request.url?.startsWith('1.')) {
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        return;
      }
      const upstream = connectSocket(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
      upstream.pipe(socket).pipe(upstream);
    });
    const url = new URL(`http://u:p@127.0.0.1:${proxy.port}`);
    const lookup = names({ 'other.example': [['1.1.1.1']], 'evil.example': [['10.0.0.1']] });
    const client = createGuardedClient({ proxy: url, lookup });
    running.push(client);
    expect(await (await client.fetch('http://public.example/')).text()).toBe('through');
    await expect(client.fetch('http://other.example/')).rejects.toThrow(/opens no tunnel to 1\.1\.1\.1:80: HTTP 403/);
    await expect(client.fetch('http://evil.example/')).rejects.toEqual(refused('PRIVATE_NETWORK_BLOCKED'));
    expect(tunnels).toEqual([
      [`${publicAddress}:80`, 'Basic dTpw'],
      ['1.1.1.1:80', 'Basic dTpw'],
    ]);
  });
});

describe('a hostile server', () => {
  it('sends no more than the limit, counted unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const web = await openWeb((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const response = await web.fetch('http://public.example/', { limits: { maxBytes: 1_000_000 } });
    await expect(response.bytes()).rejects.toMatchObject({ code: 'response_too_large' });
    const { bytes, truncated } = await readBody(await web.fetch('http://public.example/'), 5_000);
    expect([bytes.byteLength, truncated]).toEqual([5_000, true]);
  });

  it('loses its connection when its endless body reaches the limit, and when a call is cancelled', async () => {
    let closed = Promise.withResolvers<void>();
    const web = await openWeb((request, response) => {
      request.socket.once('close', () => closed.resolve());
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(1_024)));
      };
      response.on('drain', more);
      more();
    });
    const response = await web.fetch('http://public.example/', { limits: { maxBytes: 100_000 } });
    await expect(response.bytes()).rejects.toMatchObject({ code: 'response_too_large' });
    await closed.promise;
    closed = Promise.withResolvers<void>();
    const controller = new AbortController();
    const endless = await web.fetch('http://public.example/', { signal: controller.signal });
    controller.abort();
    await expect(endless.bytes()).rejects.toMatchObject({ code: 'cancelled' });
    await closed.promise;
  });

  it.each([
    ['never answers', '/silent', { headersMs: 50 }, 'headers'],
    ['stops in the middle', '/stops', { idleMs: 50 }, 'body'],
    ['drips', '/drips', { totalMs: 200 }, 'total'],
    ['drips behind redirects', '/loop', { totalMs: 200, maxRedirects: 1_000_000 }, 'total'],
  ])('that %s is left', async (_name, path, limits, stage) => {
    const web = await openWeb((request, response) => {
      if (request.url === '/silent') return;
      if (request.url === '/loop') {
        response.writeHead(302, { location: '/loop' }).end();
        return;
      }
      response.write('x');
      if (request.url === '/stops') return;
      const timer = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(timer));
    });
    const call = web.fetch(`http://public.example${path}`, { limits }).then((response) => response.text());
    await expect(call).rejects.toMatchObject({ code: 'timeout', details: { stage } });
  });

  it('cannot send endless headers, an unasked coding or a body that is not what it says', async () => {
    const web = await openWeb((request, response) => {
      if (request.url === '/headers') response.setHeader('x-long', 'x'.repeat(40_000));
      else response.setHeader('content-encoding', request.url === '/gzip' ? 'gzip' : 'zstd');
      response.end('<p>ok</p>');
    });
    const read = async (path: string) => (await web.fetch(`http://public.example${path}`)).text();
    await expect(read('/headers')).rejects.toThrow(/sent more headers than are accepted/);
    await expect(read('/gzip')).rejects.toThrow(/sent a body that cannot be unpacked/);
    await expect(read('/zstd')).rejects.toThrow(/packed as "zstd"/);
  });

  it('leaves a call that nobody reads to its deadline', async () => {
    const closed = Promise.withResolvers<void>();
    const web = await openWeb((request, response) => {
      request.socket.once('close', () => closed.resolve());
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync('x'.repeat(1_000)).subarray(0, 20));
    });
    await web.fetch('http://public.example/', { limits: { totalMs: 50 } });
    await closed.promise;
  });
});
