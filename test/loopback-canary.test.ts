import { mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gantry } from 'gantry';
import { createGantry, outcomeText, silentLog } from 'gantry';
import { mcp } from 'gantry/mcp';
import { rest } from 'gantry/rest';
import { web } from 'gantry/web';
import { afterEach, describe, expect, it } from 'vitest';
import { findChromium } from '../packages/gantry/src/web/render/find-chromium.ts';
import type { Canary } from './fixtures/public-web.ts';
import { publicAddress, publicNetwork, startCanary, startServer } from './fixtures/public-web.ts';

// Everything here has one question: was the canary touched? It listens on every address of this machine. What the tools answer is
// looked at only to know that they were really asked.

const hasBrowser = findChromium(process.env) !== undefined;
const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

interface World {
  readonly canary: Canary;
  readonly gantry: Gantry;
  /** Paths that the public web was asked for. */
  readonly asked: readonly string[];
  /** Calls a tool as a model does. */
  call(tool: string, args: Record<string, unknown>): Promise<{ readonly status: string; readonly text: string }>;
}

/** A gateway's tools under production policy, a canary, and a public web that is ours. */
const openWorld = async (
  answer: (canaryPort: number) => RequestListener,
  dns: (canaryPort: number) => Readonly<Record<string, string[][]>> = () => ({}),
): Promise<World> => {
  const canary = await startCanary();
  running.push(canary);
  const site = await startServer(answer(canary.port));
  running.push(site);
  const network = publicNetwork(site.port, dns(canary.port));
  const folder = mkdtempSync(join(tmpdir(), 'gantry-canary-'));
  running.push({ [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }) });
  const { PATH = '' } = process.env;
  const env = { PATH, BRAVE_API_KEY: 'key' };
  const gantry = await createGantry({ dataDir: join(folder, 'data'), cwd: folder, log: silentLog })
    .use(mcp({ config: 'mcp.json', env }))
    .use(web({ env, network, searchMaxRetries: 0, searchMinIntervalMs: 0, renderTimeoutSeconds: 20 }))
    .use(
      rest({
        env,
        network,
        tools: {
          look_up: { description: 'Looks something up.', url: 'https://public.example/{path}?q={query}' },
          inside: { description: 'Inside.', url: `http://127.0.0.1:${canary.port}/` },
        },
      }),
    )
    .start();
  running.push(gantry);
  return {
    canary,
    gantry,
    asked: site.asked,
    call: async (tool, args) => {
      const outcome = await gantry.call(tool, args as never, { caller: 'model', namespace: 'session/1' });
      return { status: outcome.status, text: outcomeText(outcome) };
    },
  };
};

const html = (body: string, head = ''): string =>
  `<!doctype html><html><head><title>A page</title>${head}</head><body>${body}</body></html>`;
const sendHtml =
  (page: string): RequestListener =>
  (_request, response) =>
    void response.setHeader('content-type', 'text/html').end(page);

/** Hosts that mean this machine, in every spelling that URL parsers, resolvers and kernels know. */
const spellings = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '0177.0x0.1',
  '127.0.0.1.',
  '127.255.255.254',
  '0.0.0.0',
  '0',
  '0x0',
  '①②⑦.0.0.1',
  '１２７.0.0.1',
  '127%2e0%2e0%2e1',
  '%31%32%37.0.0.1',
  '127。0。0。1',
  'localhost',
  'LOCALHOST.',
  'ⓛocalhost',
  'localhost%2e',
  'sub.localhost',
  'localhost.localdomain',
  'ip6-localhost',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::0001]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[::ffff:0.0.0.0]',
  'user@127.0.0.1',
  'user:password@127.0.0.1',
  'public.example@127.0.0.1',
  'public.example:80@127.0.0.1',
  'public.example%40@127.0.0.1',
  'public.example\\@127.0.0.1',
];

describe('a server on loopback is never reached by its address', () => {
  const attack = async (call: (world: World, url: string) => Promise<{ status: string; text: string }>) => {
    const world = await openWorld(() => (_request, response) => void response.end('public'));
    for (const host of spellings) {
      const { text } = await call(world, `http://${host}:${world.canary.port}/`);
      expect(text, host).not.toContain('secret of the canary');
    }
    expect(world.canary.touched()).toBe(0);
    return world;
  };

  it.each([
    ['web_browse', {}],
    ['web_browse', { render: true }],
    ['fetch_url', {}],
    ['fetch_url', { raw: true }],
  ])('through %s %j', async (tool, more) => {
    const world = await attack((opened, url) => opened.call(tool, { url, ...more }));
    const refused = await world.call(tool, { url: `http://127.0.0.1:${world.canary.port}/`, ...more });
    expect(refused).toMatchObject({ status: 'failed', text: expect.stringContaining('FETCH_URL_ALLOW_PRIVATE') });
  });

  it('through mcp_register_server', async () => {
    let number = 0;
    const register = (world: World, url: string) => {
      number += 1;
      return world.call('mcp_register_server', { name: `s${number}`, type: 'sse', url });
    };
    const world = await attack(register);
    const refused = await register(world, `http://127.0.0.1:${world.canary.port}/mcp`);
    expect(refused.status).toBe('failed');
    expect(world.canary.touched()).toBe(0);
  });

  it('through an endpoint of the configuration that is not said to be private', async () => {
    const { call, canary } = await openWorld(() => (_request, response) => void response.end('public'));
    expect(await call('inside', {})).toMatchObject({ status: 'failed' });
    expect(canary.touched()).toBe(0);
  });

  it('through the host of an endpoint, which arguments cannot change', async () => {
    const { call, canary, asked } = await openWorld(() => (_request, response) => void response.end('public'));
    for (const path of [
      `@127.0.0.1:${canary.port}/`,
      `/127.0.0.1:${canary.port}/`,
      `\\\\127.0.0.1:${canary.port}\\`,
      `..//127.0.0.1:${canary.port}/`,
      `http://127.0.0.1:${canary.port}/`,
      `#@127.0.0.1:${canary.port}/`,
    ])
      await call('look_up', { path, query: `&url=http://127.0.0.1:${canary.port}/` });
    expect(canary.touched()).toBe(0);
    expect(asked.length).toBeGreaterThan(0);
  });

  it('through the pictures that an image search finds', async () => {
    const { call, canary, asked } = await openWorld((port) => (_request, response) => {
      const results = spellings.map((host, index) => ({
        title: `Picture ${index}`,
        url: 'https://public.example/',
        properties: { url: `http://${host}:${port}/picture.png` },
      }));
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ results }));
    });
    expect(await call('web_search', { query: 'q', category: 'image', count: 10 })).toMatchObject({ status: 'done' });
    expect(asked[0]).toContain('/res/v1/images/search');
    expect(canary.touched()).toBe(0);
  });

  it.each([
    'file',
    'ftp',
    'gopher',
    'ws',
    'dict',
    'ldap',
    'data',
    'blob:http',
    'view-source:http',
    'jar:http',
    'HtTp+unix',
  ])('by the scheme %s', async (scheme) => {
    const { call, canary } = await openWorld(() => (_request, response) => void response.end('public'));
    for (const tool of ['web_browse', 'fetch_url'])
      expect((await call(tool, { url: `${scheme}://127.0.0.1:${canary.port}/` })).status).toBe('failed');
    expect(canary.touched()).toBe(0);
  });

  it('by what looks like its address and is not', async () => {
    const { call, canary, asked } = await openWorld(() => (_request, response) => void response.end('public'));
    const tricks = [
      `http://public.example/#@127.0.0.1:${canary.port}/`,
      `http://public.example/?@127.0.0.1:${canary.port}/`,
      `http://public.example/;@127.0.0.1:${canary.port}/`,
      `http://public.example#@127.0.0.1:${canary.port}/`,
      `http://127.0.0.1.public.example:${canary.port}/`,
      `http:127.0.0.1.public.example:${canary.port}/`,
      ` http://public.example/\r\nHost: 127.0.0.1:${canary.port}`,
    ];
    for (const url of tricks) await call('fetch_url', { url, raw: true });
    expect(asked.length).toBeGreaterThanOrEqual(tricks.length);
    expect(canary.touched()).toBe(0);
  });
});

describe('a server on loopback is never reached by a redirect', () => {
  /** Where a public site sends us. */
  const locationOf = (path: string, port: number): string | undefined =>
    ({
      '/plain': `http://127.0.0.1:${port}/`,
      '/name': `http://localhost:${port}/`,
      '/six': `http://[::1]:${port}/`,
      '/mapped': `http://[::ffff:127.0.0.1]:${port}/`,
      '/decimal': `http://2130706433:${port}/`,
      '/scheme-relative': `//127.1:${port}/`,
      '/backslashes': `\\\\127.0.0.1:${port}\\`,
      '/zero': `http://0:${port}/`,
      '/user': `http://public.example@127.0.0.1:${port}/`,
      '/upper': `HTTP://LOCALHOST:${port}/`,
      '/file': 'file:///etc/passwd',
      '/chain': '/chain2',
      '/chain2': 'https://elsewhere.example/plain',
      '/rebinding': `http://rebinding.example:${port}/`,
    })[path];
  const paths =
    '/plain /name /six /mapped /decimal /scheme-relative /backslashes /zero /user /upper /file /chain'.split(' ');
  const redirecting =
    (status: number) =>
    (port: number): RequestListener =>
    (request, response) => {
      const location = locationOf(new URL(request.url ?? '/', 'http://public.example').pathname, port);
      if (location === undefined) response.end('public');
      else response.writeHead(status, { location, refresh: `0;url=${location}` }).end('moved');
    };

  it.each(
    [301, 302, 303, 307, 308].flatMap((status) => ['web_browse', 'fetch_url'].map((tool) => [status, tool] as const)),
  )('of HTTP %i through %s', async (status, tool) => {
    const { call, canary, asked } = await openWorld(redirecting(status));
    for (const path of paths) {
      expect((await call(tool, { url: `http://public.example${path}` })).status, path).toBe('failed');
    }
    expect(asked.length).toBeGreaterThanOrEqual(paths.length);
    expect(canary.touched()).toBe(0);
  });

  it('through an endpoint of the configuration', async () => {
    const { call, canary, asked } = await openWorld(redirecting(307));
    for (const path of paths) await call('look_up', { path: path.slice(1), query: 'q' });
    expect(asked).toHaveLength(paths.length);
    expect(canary.touched()).toBe(0);
  });

  it('of a search engine, whichever it is', async () => {
    const { call, canary, asked } = await openWorld((port) => (request, response) => {
      // Brave, and after it DuckDuckGo, answer with a redirect inwards.
      response.writeHead(302, { location: `http://127.0.0.1:${port}${request.url}` }).end();
    });
    expect(await call('web_search', { query: 'q' })).toMatchObject({ status: 'failed' });
    expect(asked.map((url) => url.split('?')[0])).toEqual(['/res/v1/web/search', '/html/']);
    expect(canary.touched()).toBe(0);
  });

  it('of a metasearch instance, which may lie inside itself', async () => {
    const canary = await startCanary();
    running.push(canary);
    const instance = await startServer((request, response) => {
      if (request.url === '/healthz') response.end('OK');
      else response.writeHead(302, { location: `http://127.0.0.1:${canary.port}/` }).end();
    });
    running.push(instance);
    const gantry = await createGantry({ dataDir: ':memory:', log: silentLog })
      .use(
        web({
          env: {},
          searxngBaseUrl: `http://127.0.0.1:${instance.port}`,
          network: publicNetwork(instance.port),
        }),
      )
      .start();
    running.push(gantry);
    const outcome = await gantry.call('web_search', { query: 'q', category: 'papers' });
    expect(outcome.status).toBe('failed');
    expect(instance.asked.some((url) => url.startsWith('/search?'))).toBe(true);
    expect(canary.touched()).toBe(0);
  });

  it('of a picture that was found', async () => {
    const { call, canary, asked } = await openWorld((port) => (request, response) => {
      if (request.url?.startsWith('/res/v1/') !== true) return redirecting(302)(port)(request, response);
      const results = paths.map((path) => ({
        title: path,
        url: 'https://public.example/',
        properties: { url: `http://public.example${path}` },
      }));
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify({ results }));
    });
    await call('web_search', { query: 'q', category: 'image', count: 10 });
    expect(asked.length).toBeGreaterThan(paths.length);
    expect(canary.touched()).toBe(0);
  });
});

describe('a server on loopback is never reached by an answer of DNS', () => {
  it.each([
    ['one private answer', [['127.0.0.1']]],
    ['a private answer among public ones', [[publicAddress, '127.0.0.1']]],
    ['a mapped answer', [['::ffff:127.0.0.1']]],
    ['an IPv6 answer', [['::1']]],
    ['the unspecified address', [['0.0.0.0']]],
    ['an answer that changes after the check', [[publicAddress], ['127.0.0.1']]],
    ['an answer that changes back and forth', [[publicAddress], ['127.0.0.1'], [publicAddress], ['127.0.0.1']]],
  ])('that is %s', async (_what, rounds) => {
    const { call, canary } = await openWorld(
      () => (_request, response) => void response.end('public'),
      () => ({ 'evil.example': [...rounds] }),
    );
    const url = `http://evil.example:${canary.port}/`;
    for (const [tool, args] of [
      ['web_browse', { url }],
      ['fetch_url', { url }],
      ['fetch_url', { url, raw: true }],
      ['web_browse', { url, render: true }],
    ] as const)
      expect((await call(tool, args)).text).not.toContain('secret of the canary');
    expect(canary.touched()).toBe(0);
  });
});

describe('a server on loopback is never reached by what stands in a page', () => {
  it('that is only read: nothing in it is followed', async () => {
    const { call, canary, asked } = await openWorld((port) => {
      const bad = `http://127.0.0.1:${port}`;
      return sendHtml(
        html(
          `<p>${'Public text. '.repeat(50)}</p><img src="${bad}/img"><a href="${bad}/a" ping="${bad}/ping">link</a>
           <iframe src="${bad}/frame"></iframe><script>location = '${bad}/script'</script>`,
          `<base href="${bad}/"><meta http-equiv="refresh" content="0;url=${bad}/refreshed"><link rel="canonical" href="${bad}/canonical">`,
        ),
      );
    });
    for (const tool of ['web_browse', 'fetch_url'])
      expect((await call(tool, { url: 'http://public.example/' })).text).toContain('Public text.');
    expect(asked.filter((path) => path !== '/')).toEqual([]);
    expect(canary.touched()).toBe(0);
  });

  it('or by a proxy that the environment names', async () => {
    const { call, canary } = await openWorld(() => sendHtml(html(`<p>${'Public text. '.repeat(50)}</p>`)));
    const names = [
      'HTTP_PROXY',
      'http_proxy',
      'HTTPS_PROXY',
      'https_proxy',
      'ALL_PROXY',
      'all_proxy',
      'NODE_USE_ENV_PROXY',
    ];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${canary.port}`;
    try {
      for (const render of hasBrowser ? [false, true] : [false])
        expect((await call('web_browse', { url: 'http://public.example/', render })).text).toContain('Public text.');
      expect((await call('fetch_url', { url: 'http://public.example/' })).text).toContain('Public text.');
      expect((await call('look_up', { path: 'x', query: 'q' })).status).toBe('done');
      expect(canary.touched()).toBe(0);
    } finally {
      for (const [index, name] of names.entries()) {
        const value = before[index];
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  describe.skipIf(!hasBrowser)('that is shown in a browser', () => {
    const dns = () => ({ 'canary.example': [['127.0.0.1']] });
    const hosts = (port: number): string =>
      JSON.stringify(
        [
          '127.0.0.1',
          'localhost',
          'sub.localhost',
          '[::1]',
          '0.0.0.0',
          '[::ffff:127.0.0.1]',
          '2130706433',
          'canary.example',
        ].map((host) => `${host}:${port}`),
      );
    /** A page that says when its attacks are over, so that none is cut off. */
    const page = (attacks: string, head = ''): string => html(`<p id="p">Public text.</p>${attacks}`, head);

    it.each<[string, (bad: string, port: number) => string]>([
      [
        'loads: styles, scripts, pictures, frames, objects, hints, imports',
        (bad) =>
          page(
            `<img src="${bad}/img" srcset="${bad}/img2 2x"><script src="${bad}/script"></script><script type="module">import('${bad}/module').catch(() => {})</script>
             <iframe src="${bad}/frame"></iframe><object data="${bad}/object"></object><embed src="${bad}/embed"><video src="${bad}/video" poster="${bad}/poster"></video>
             <audio src="${bad}/audio"></audio><svg><image href="${bad}/svg"/><use href="${bad}/use#x"/></svg><div style="background:url(${bad}/background)">x</div>
             <iframe srcdoc="<img src='${bad}/srcdoc'><script src='${bad}/srcdoc-script'></script>"></iframe>`,
            `<link rel="stylesheet" href="${bad}/css"><style>@import url('${bad}/import'); @font-face { font-family: x; src: url('${bad}/font') } body { font-family: x }</style>
             <link rel="icon" href="${bad}/icon"><link rel="manifest" href="${bad}/manifest"><link rel="preconnect" href="${bad}"><link rel="dns-prefetch" href="//canary.example">
             <link rel="prefetch" href="${bad}/prefetch"><link rel="preload" as="script" href="${bad}/preload"><link rel="modulepreload" href="${bad}/modulepreload">
             <link rel="prerender" href="${bad}/prerender"><script type="speculationrules">{"prefetch":[{"source":"list","urls":["${bad}/rules"]}],"prerender":[{"source":"list","urls":["${bad}/rules2"]}]}</script>`,
          ),
      ],
      [
        'fetches by script, under every name, with and without CORS',
        (_bad, port) =>
          page(`<script>
            for (const host of ${hosts(port)})
              for (const scheme of ['http', 'https']) {
                fetch(scheme + '://' + host + '/fetch', { mode: 'no-cors' }).catch(() => {});
                fetch(scheme + '://' + host + '/cors', { headers: { 'x-a': '1' } }).catch(() => {});
                const old = new XMLHttpRequest(); old.open('GET', scheme + '://' + host + '/xhr'); old.send();
                navigator.sendBeacon(scheme + '://' + host + '/beacon', 'x');
                new Image().src = scheme + '://' + host + '/image';
                new EventSource(scheme + '://' + host + '/events');
              }
            fetch('/redirected', { mode: 'no-cors' }).catch(() => {});
          </script>`),
      ],
      [
        'opens sockets, transports and peer connections',
        (_bad, port) =>
          page(`<script>
            for (const host of ${hosts(port)}) {
              for (const scheme of ['ws', 'wss']) try { new WebSocket(scheme + '://' + host + '/socket') } catch {}
              try { new WebTransport('https://' + host + '/transport') } catch {}
              try {
                const peer = new RTCPeerConnection({ iceServers: [{ urls: ['stun:' + host, 'turn:' + host + '?transport=tcp'], username: 'u', credential: 'c' }] });
                peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
              } catch {}
            }
          </script>`),
      ],
      [
        'opens windows, posts forms and clicks links',
        (bad) =>
          page(`<form id="f" action="${bad}/form" target="_blank" method="post"><input name="a"></form><a id="a" href="${bad}/link" ping="${bad}/ping" target="_blank" download>x</a>
            <script>window.open('${bad}/window'); f.submit(); a.click(); open('data:text/html,<script src="${bad}/opened"><\\/script>')</script>`),
      ],
      [
        'runs workers from blob: and data: addresses',
        (bad) =>
          page(`<script>
            const code = "try { importScripts('${bad}/imported') } catch {} fetch('${bad}/worker', { mode: 'no-cors' }).catch(() => {}); new WebSocket('${bad.replace('http', 'ws')}/worker')";
            new Worker(URL.createObjectURL(new Blob([code]))); new Worker('data:text/javascript,' + encodeURIComponent(code));
            try { new SharedWorker('data:text/javascript,' + encodeURIComponent('onconnect = () => {}; ' + code)) } catch {}
            navigator.serviceWorker?.register('/service-worker.js').catch(() => {});
            const frame = document.createElement('iframe'); frame.src = URL.createObjectURL(new Blob(['<script src="${bad}/blob"><\\/script>'], { type: 'text/html' })); document.body.append(frame);
            const data = document.createElement('iframe'); data.src = 'data:text/html,' + encodeURIComponent('<img src="${bad}/data"><script src="${bad}/data-script"><\\/script>'); document.body.append(data);
          </script>`),
      ],
    ])('and %s', async (_what, attacks) => {
      const { call, canary } = await openWorld(
        (port) => (request, response) => {
          const bad = `http://127.0.0.1:${port}`;
          if (request.url === '/redirected') response.writeHead(302, { location: `${bad}/redirected` }).end();
          else if (request.url === '/service-worker.js')
            response
              .setHeader('content-type', 'text/javascript')
              .end(
                `fetch('${bad}/service', { mode: 'no-cors' }); onfetch = (e) => e.respondWith(fetch('${bad}/caught'))`,
              );
          else {
            response.setHeader('alt-svc', `h3="127.0.0.1:${port}", h2="127.0.0.1:${port}"`);
            response.setHeader('link', `<${bad}/header>; rel=preload; as=script`);
            sendHtml(attacks(bad, port))(request, response);
          }
        },
        dns,
      );
      const { text } = await call('web_browse', { url: 'http://public.example/', render: true });
      expect(text).toContain('(via headless browser)');
      expect(text).toContain('Public text.');
      expect(text).not.toContain('secret of the canary');
      expect(canary.touched()).toBe(0);
    });

    it.each<[string, (bad: string) => string]>([
      ['redirects', (bad) => bad],
      ['refreshes itself', (bad) => html('', `<meta http-equiv="refresh" content="0;url=${bad}/refreshed">`)],
      ['goes there by script', (bad) => html(`<script>location.replace('${bad}/gone')</script>`)],
      [
        'goes there by a form',
        (bad) => html(`<form id="f" action="${bad}/form" method="post"></form><script>f.submit()</script>`),
      ],
      [
        'goes there by a frame that leads the whole page',
        (bad) => html(`<iframe srcdoc="<script>top.location='${bad}/top'</script>"></iframe>`),
      ],
      [
        'goes there after a while',
        (bad) => html(`<p>Public text.</p><script>setTimeout(() => { location.href = '${bad}/later' }, 100)</script>`),
      ],
    ])('and %s', async (_what, answer) => {
      const { call, canary, asked } = await openWorld((port) => (request, response) => {
        const bad = `http://127.0.0.1:${port}`;
        const page = answer(bad);
        if (page === bad) response.writeHead(302, { location: `${bad}/moved` }).end();
        else sendHtml(page)(request, response);
      });
      const { text } = await call('web_browse', { url: 'http://public.example/', render: true });
      expect(text).not.toContain('secret of the canary');
      expect(asked.length).toBeGreaterThan(0);
      expect(canary.touched()).toBe(0);
    });
  });
});
