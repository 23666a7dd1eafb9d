import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Dial, IsOwnListener, Lookup, NetPolicy } from 'gantry/net';
import { createGantry, outcomeText, silentLog } from 'gantry';
import type { WebOptions } from 'gantry/web';
import { web } from 'gantry/web';
import { buildConnector } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { findChromium } from '../packages/gantry/src/web/render/find-chromium.ts';
import { chromiumLauncher } from '../packages/gantry/src/web/render/launch-chromium.ts';
import type { RenderLimits, Renderer } from '../packages/gantry/src/web/render/renderer.ts';
import { createRenderer } from '../packages/gantry/src/web/render/renderer.ts';

// Real Chromium against pages of this process. "site.example" and its like are answered by a server here as if they were public.
const executablePath = findChromium(process.env);
const publicAddress = '93.184.215.14';
const production: NetPolicy = { production: true, allowPrivateNetwork: false };

const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

interface Site {
  readonly port: number;
  readonly asked: string[];
  /** Connections accepted so far. */
  readonly connections: () => number;
}

const serve = async (answer: RequestListener | string): Promise<Site> => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (typeof answer === 'string') response.setHeader('content-type', 'text/html; charset=utf-8').end(answer);
    else answer(request, response);
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  server.on('upgrade', (request, socket: Duplex) => {
    socket
      .on('end', () => socket.end())
      .on('error', () => socket.destroy())
      .resume();
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    const head = ['HTTP/1.1 101 Switching Protocols', 'upgrade: websocket', 'connection: upgrade'];
    socket.write([...head, `sec-websocket-accept: ${accept}`, '', ''].join('\r\n'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.push({
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
  return { port: (server.address() as AddressInfo).port, asked, connections: () => connections };
};

const html = (body: string, head = '<title>A page</title>'): string =>
  `<!doctype html><html><head>${head}</head><body>${body}</body></html>`;

/** A browser under production policy for which public names lead to one of our servers. */
const browse = (
  site: Site,
  options: { limits?: Partial<RenderLimits>; policy?: NetPolicy; lookup?: Lookup; isOwnListener?: IsOwnListener } = {},
): Renderer => {
  const dialReal = buildConnector({ allowH2: false });
  const dial: Dial = (wanted, callback) =>
    dialReal(
      wanted.hostname === publicAddress ? { ...wanted, hostname: '127.0.0.1', port: String(site.port) } : wanted,
      callback,
    );
  const renderer = createRenderer({
    launch: chromiumLauncher({
      executablePath: executablePath as string,
      scriptMemoryMb: 256,
      env: process.env,
    }),
    policy: options.policy ?? production,
    lookup: options.lookup ?? (async (host) => (host.endsWith('.internal.test') ? ['127.0.0.1'] : [publicAddress])),
    dial,
    log: silentLog,
    limits: options.limits,
    isOwnListener: options.isOwnListener,
  });
  running.push(renderer);
  return renderer;
};

/** Process ids of browsers that this process started. */
const browsers = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const isOurs = Number(parent) === process.pid && stat.includes('(chrom') && state !== 'Z';
        return isOurs ? [Number(name)] : [];
      } catch {
        return [];
      }
    });

describe.skipIf(executablePath === undefined)('rendering in Chromium', () => {
  it('gives the page as its scripts made it, and keeps nothing for the next one', async () => {
    const site = await serve(
      html(
        `<div id="root"></div><script>
           const before = document.cookie + (localStorage.getItem('seen') ?? '');
           document.cookie = 'seen=yes'; localStorage.setItem('seen', 'stored');
           setTimeout(() => { root.innerHTML = '<h1>Made by a script</h1><p>before: [' + before + ']</p>' }, 50);
         </script>`,
      ),
    );
    const renderer = browse(site);
    expect(renderer.health()).toEqual({ browser: false, running: 0, waiting: 0 });
    for (let time = 0; time < 2; time += 1)
      expect(await renderer.render('http://site.example/start')).toMatchObject({
        url: 'http://site.example/start',
        status: 200,
        title: 'A page',
        html: expect.stringContaining('<h1>Made by a script</h1><p>before: []</p>'),
      });
    expect(browsers()).toHaveLength(1);
    await renderer[Symbol.asyncDispose]();
    expect(browsers()).toEqual([]);
    await expect(renderer.render('http://site.example/')).rejects.toMatchObject({ code: 'stopped' });
  });

  it('clicks a consent banner away, refusing before accepting, and leaves other buttons alone', async () => {
    const banner = (buttons: string): string =>
      html(
        `<main><p>The text of the page.</p><button onclick="log('page')">Accept</button></main><p id="log"></p>
         <div id="box"><p>We use cookies to make this site better for you and for our partners.</p>${buttons}</div>
         <script>const log = (text) => { document.getElementById('log').textContent += '(' + text + ')'; document.getElementById('box')?.remove(); }</script>`,
      );
    const pages: Record<string, string> = {
      '/both': banner(
        `<button onclick="log('yes')">Accept all</button><button onclick="log('no')">Reject all</button>`,
      ),
      '/only': banner(`<a href="#" onclick="log('yes')">I agree</a>`),
      '/none': html(
        `<p id="log"></p><p>Terms</p><button onclick="document.getElementById('log').textContent = '(page)'">Accept</button>`,
      ),
    };
    const site = await serve((request, response) => {
      response.setHeader('content-type', 'text/html').end(pages[request.url ?? ''] ?? '');
    });
    const renderer = browse(site);
    const shown = async (path: string): Promise<string | undefined> =>
      /<p id="log">(.*?)<\/p>/.exec((await renderer.render(`http://site.example${path}`)).html)?.[1];
    expect([await shown('/both'), await shown('/only'), await shown('/none')]).toEqual(['(no)', '(yes)', '']);
  });

  it('refuses pages that policy keeps closed, in every spelling, without starting a browser', async () => {
    const canary = await serve('secret');
    const renderer = browse(canary);
    for (const url of [
      `http://127.0.0.1:${canary.port}/`,
      `http://localhost:${canary.port}/`,
      `http://[::1]:${canary.port}/`,
      `http://2130706433:${canary.port}/`,
      `http://0x7f.1:${canary.port}/`,
      `http://canary.internal.test:${canary.port}/`,
      'http://10.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'file:///etc/passwd',
      'data:text/html,<p>x',
      'chrome://version',
      'view-source:http://site.example/',
    ])
      await expect(renderer.render(url), url).rejects.toMatchObject({ code: 'address_refused' });
    expect(renderer.health().browser).toBe(false);
    expect(canary.connections()).toBe(0);
  });

  it('reaches no closed address, whatever a public page redirects to, loads, opens or frames', async () => {
    const canary = await serve('secret');
    const stun = createSocket('udp4');
    let datagrams = 0;
    stun.on('message', () => {
      datagrams += 1;
    });
    stun.bind(0, '127.0.0.1');
    await once(stun, 'listening');
    running.push({ [Symbol.asyncDispose]: async () => void stun.close() });
    const bad = `http://127.0.0.1:${canary.port}`;
    const attacks = html(
      `<p>Public text.</p><img src="${bad}/img"><script src="${bad}/script"></script><link rel="stylesheet" href="${bad}/css">
       <link rel="preconnect" href="${bad}"><link rel="dns-prefetch" href="//canary.internal.test"><link rel="prefetch" href="${bad}/prefetch">
       <iframe src="${bad}/frame"></iframe><iframe src="/hop"></iframe><object data="${bad}/object"></object><video src="${bad}/video"></video>
       <form id="f" action="${bad}/form" target="_blank" method="post"></form>
       <script>
         for (const host of ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', 'canary.internal.test', '[::ffff:127.0.0.1]'])
           for (const scheme of ['http', 'https']) fetch(scheme + '://' + host + ':${canary.port}/fetch', { mode: 'no-cors' }).catch(() => {});
         fetch('/hop', { mode: 'no-cors' }).catch(() => {});
         for (const scheme of ['ws', 'wss']) new WebSocket(scheme + '://127.0.0.1:${canary.port}/socket');
         navigator.sendBeacon('${bad}/beacon', 'x');
         new EventSource('${bad}/events');
         window.open('${bad}/window'); f.submit();
         const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${stun.address().port}' }] });
         peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
       </script>`,
    );
    const site = await serve((request, response) => {
      if (request.url?.startsWith('/hop') === true) response.writeHead(302, { location: `${bad}/redirected` }).end();
      else if (request.url === '/meta')
        response
          .setHeader('content-type', 'text/html')
          .end(html('', `<meta http-equiv="refresh" content="0;url=${bad}/refreshed">`));
      else response.setHeader('content-type', 'text/html').end(attacks);
    });
    const renderer = browse(site);
    expect((await renderer.render('http://site.example/')).html).toContain('Public text.');
    for (const path of ['/hop', '/meta'])
      await expect(renderer.render(`http://site.example${path}`), path).rejects.toMatchObject({
        code: 'address_refused',
        message: expect.stringContaining('127.0.0.1'),
      });
    expect(canary.connections()).toBe(0);
    expect(datagrams).toBe(0);
  });

  it('lets sockets and tunnels through to open addresses', async () => {
    const site = await serve(
      html(`<p id="p">Waiting.</p><script>
        const socket = new WebSocket('ws://site.example/socket');
        socket.onopen = () => { p.textContent = 'Socket open.'; };
      </script>`),
    );
    const renderer = browse(site);
    expect((await renderer.render('http://site.example/')).html).toContain('Socket open.');
    // The tunnel stands, and what answers in it is no TLS.
    await expect(renderer.render('https://site.example/')).rejects.toMatchObject({
      code: 'execution_failed',
      message: expect.stringMatching(/ERR_SSL|ERR_CONNECTION_CLOSED/),
    });
  });

  it('dials what it judged: a name that changes its address between the check and the connection stays where it was', async () => {
    const canary = await serve('secret');
    let asked = 0;
    const renderer = browse(await serve(html('<p>Pinned.</p>')), {
      lookup: async () => [(asked += 1) === 1 ? publicAddress : '127.0.0.1'],
    });
    expect((await renderer.render(`http://rebinding.example:${canary.port}/`)).html).toContain('Pinned.');
    expect(canary.connections()).toBe(0);
  });

  it('opens private networks only by policy, and even then neither metadata nor its own listeners', async () => {
    const own = await serve('secret');
    const site = await serve((_request, response) => {
      const inside = `<p>Inside.</p><script src="http://127.0.0.1:${own.port}/script"></script>`;
      response.setHeader('content-type', 'text/html').end(html(inside));
    });
    const renderer = browse(site, {
      policy: { production: false, allowPrivateNetwork: false },
      isOwnListener: (_address, port) => port === own.port,
    });
    expect((await renderer.render(`http://127.0.0.1:${site.port}/`)).html).toContain('Inside.');
    for (const url of ['http://169.254.169.254/', `http://127.0.0.1:${own.port}/`])
      await expect(renderer.render(url), url).rejects.toMatchObject({ code: 'address_refused' });
    expect(own.asked).toEqual([]);
  });

  it('starts a browser that was killed again, also under a page that is being rendered', async () => {
    let hits = 0;
    const site = await serve((_request, response) => {
      hits += 1;
      if (hits === 1) for (const pid of browsers()) process.kill(pid, 'SIGKILL');
      response.setHeader('content-type', 'text/html').end(html('<p>Alive.</p>'));
    });
    const renderer = browse(site);
    expect((await renderer.render('http://site.example/')).html).toContain('Alive.');
    expect(hits).toBeGreaterThan(1);
    for (const pid of browsers()) process.kill(pid, 'SIGKILL');
    expect((await renderer.render('http://site.example/')).html).toContain('Alive.');
  });

  it('gives up a page that never ends and shows the next one', async () => {
    const site = await serve((request, response) => {
      const script = request.url === '/spin' ? '<script>for (;;);</script>' : '';
      response.setHeader('content-type', 'text/html').end(html(`<p>Text.</p>${script}`));
    });
    const renderer = browse(site, { limits: { maxPages: 1 } });
    await expect(renderer.render('http://site.example/spin', { timeoutMs: 1500 })).rejects.toMatchObject({
      code: 'timeout',
    });
    expect((await renderer.render('http://site.example/')).html).toContain('Text.');
  });

  it('renders so many pages at a time, lets some wait and refuses the rest', async () => {
    const open = Promise.withResolvers<void>();
    let at = 0;
    let most = 0;
    const arrived = Promise.withResolvers<void>();
    const site = await serve((_request, response) => {
      at += 1;
      most = Math.max(most, at);
      if (at === 2) arrived.resolve();
      void open.promise.then(() => {
        at -= 1;
        response.setHeader('content-type', 'text/html').end(html('<p>Text.</p>'));
      });
    });
    const renderer = browse(site, { limits: { maxPages: 2, maxWaiting: 1 } });
    const pages = [1, 2, 3].map((page) => renderer.render(`http://site.example/${page}`));
    await arrived.promise;
    expect(renderer.health()).toEqual({ browser: true, running: 2, waiting: 1 });
    await expect(renderer.render('http://site.example/4')).rejects.toMatchObject({ code: 'limit_reached' });
    open.resolve();
    expect((await Promise.all(pages)).map((page) => page.status)).toEqual([200, 200, 200]);
    expect(most).toBe(2);
  });

  it('stops a page that loads too much', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/big') response.end(Buffer.alloc(3_000_000, 32));
      else
        response
          .setHeader('content-type', 'text/html')
          .end(
            html(
              `<p id="p">Text.</p><script>fetch('/big').then((r) => r.text()).catch(() => { p.textContent = 'Cut.' })</script>`,
            ),
          );
    });
    const renderer = browse(site, { limits: { maxBytes: 1_000_000 } });
    expect((await renderer.render('http://site.example/')).html).toContain('Cut.');
  });

  it('survives servers that break their answers', async () => {
    const site = await serve((request, response) => {
      const { socket } = response;
      if (request.url === '/chunk')
        socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nnot a number\r\n');
      else if (request.url === '/reset') socket?.resetAndDestroy();
      else if (request.url === '/noise') socket?.end('noise\r\n\r\n');
      else
        response
          .setHeader('content-type', 'text/html')
          .end(
            html(
              '<p>Text.</p>' + ['chunk', 'reset', 'noise'].map((name) => `<script src="/${name}"></script>`).join(''),
            ),
          );
    });
    const renderer = browse(site);
    expect((await renderer.render('http://site.example/')).html).toContain('Text.');
    for (const path of ['reset', 'noise'])
      await expect(renderer.render(`http://site.example/${path}`)).resolves.toMatchObject({ status: 502 });
  });

  it('ends the browser under a page when it is disposed', async () => {
    const reached = Promise.withResolvers<void>();
    const site = await serve(() => reached.resolve());
    const renderer = browse(site);
    const page = renderer.render('http://site.example/');
    await Promise.all([
      expect(page).rejects.toMatchObject({ code: 'stopped' }),
      reached.promise.then(() => renderer[Symbol.asyncDispose]()),
    ]);
    expect(browsers()).toEqual([]);
  });

  it('serves web_browse: rendered where there is a browser, said to be unread where there is none', async () => {
    const site = await serve(
      html(
        `<div id="root"></div><noscript>Please enable JavaScript.</noscript>
         <script>root.innerHTML = '<h1>Schedule</h1><p>' + 'Doors open at nine. '.repeat(20) + '</p>'</script>`,
      ),
    );
    const env = { ...process.env, RUN_ENV: 'development' };
    const browseWith = async (options: WebOptions): Promise<string> => {
      await using gantry = await createGantry({ dataDir: ':memory:', log: silentLog })
        .use(web({ env, ...options }))
        .start();
      return outcomeText(await gantry.call('web_browse', { url: `http://127.0.0.1:${site.port}/` }));
    };
    const shown = await browseWith({});
    expect(shown).toMatch(/^Source: .* \(via headless browser/);
    expect(shown).toContain('Doors open at nine.');
    expect(shown).not.toContain('[web_browse status');
    for (const options of [
      { rendering: 'off' },
      { browserPath: '/nowhere/chromium' },
      { renderServiceUrl: 'http://127.0.0.1:9' },
    ] as const) {
      const unread = await browseWith(options);
      expect(unread).toContain('[web_browse status: js_required]');
      expect(unread).not.toContain('Doors open');
    }
    expect(browsers()).toEqual([]);
  });

  it('says what is missing where there is no Chromium', async () => {
    using folder = makeGantryFolder();
    const ran = await folder.run(['serve', '--role', 'browser', '--port', '0'], { env: { PATH: folder.path } });
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringMatching(/needs Chromium.*playwright-core/s) });
  });

  it('is a service of its own: gantry serve --role browser', async () => {
    using folder = makeGantryFolder();
    const site = await serve(html('<p>Over HTTP.</p>'));
    await using service = await serveBrowserRole(folder, { RUN_ENV: 'development' });
    const ask = async (body: unknown, headers: Record<string, string> = {}): Promise<[number, unknown]> => {
      const response = await fetch(`${service.url}/render`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      return [response.status, await response.json()];
    };
    const health = async (): Promise<unknown> => (await fetch(`${service.url}/health`)).json();
    expect(await health()).toEqual({ status: 'ok', browser: false, running: 0, waiting: 0 });
    const url = `http://127.0.0.1:${site.port}/`;
    expect(await ask({ url, timeoutMs: 20_000 })).toMatchObject([
      200,
      { url, status: 200, title: 'A page', html: expect.stringContaining('Over HTTP.') },
    ]);
    expect(await health()).toMatchObject({ browser: true });
    expect(await ask({ url: `${service.url}/health` })).toMatchObject([403, { error: { code: 'address_refused' } }]);
    expect(await ask({ url: 'http://169.254.169.254/' })).toMatchObject([403, { error: { code: 'address_refused' } }]);
    expect(await ask({ link: url })).toMatchObject([400, {}]);
    expect(await ask({ url }, { origin: 'https://evil.example' })).toMatchObject([403, {}]);
    expect(await service.stop()).toBe(0);
  });
});

/** The render service as a process, on a free port. */
const serveBrowserRole = async (
  folder: GantryFolder,
  env: Record<string, string>,
): Promise<{ readonly url: string; stop(): Promise<number | null> } & AsyncDisposable> => {
  const child = folder.start(['serve', '--role', 'browser', '--port', '0'], env);
  const exited = once(child, 'exit') as Promise<[number | null]>;
  let said = '';
  const ready = Promise.withResolvers<string>();
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    said += piece;
    const [, url] = /ready at (\S+) /.exec(said) ?? [];
    if (url !== undefined) ready.resolve(url);
  });
  void exited.then(([code]) => ready.reject(new Error(`gantry serve ended with ${code}: ${said}`)));
  return {
    url: await ready.promise,
    stop: async () => {
      child.kill('SIGTERM');
      return (await exited)[0];
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
  };
};
