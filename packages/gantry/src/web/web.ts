import type { Meter } from '@opentelemetry/api';
import { metrics } from '@opentelemetry/api';
import { newId } from '../kernel/ids.ts';
import type { IsOwnListener } from '../net/address/own-listeners.ts';
import { readNetPolicy } from '../net/address/policy.ts';
import type { Network } from '../net/guarded-client.ts';
import type { Plugin } from '../plugin/plugin.ts';
import { createInsteadOf } from './instead-of.ts';
import { fetchUrlTool } from './read/fetch-url-tool.ts';
import { makeReaders } from './read/make-readers.ts';
import type { RenderPage } from './read/render-page.ts';
import { createStashPage } from './read/stash-page.ts';
import { webBrowseTool } from './read/web-browse-tool.ts';
import { chooseRendering } from './render/rendering.ts';
import { makeWebSearch } from './search/make-web-search.ts';
import { createWebClients, productAgent } from './web-clients.ts';
import { webGuide } from './web-guide.ts';
import type { WebSettings } from './web-settings.ts';
import { defaultWebSettings } from './web-settings.ts';

/** How the plugin is used. */
export interface WebOptions extends Partial<WebSettings> {
  /** `RUN_ENV`, `FETCH_URL_ALLOW_PRIVATE_NETWORK` and the key's variable; default the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** What this process listens on is never fetched. Default: it listens on nothing. */
  readonly isOwnListener?: IsOwnListener | undefined;
  /** Default: the system's. */
  readonly network?: Network | undefined;
  /** Headless browser; default as `rendering` and its fellows say. Where there is none, pages that need one say so. */
  readonly render?: RenderPage | undefined;
  readonly meter?: Pick<Meter, 'createCounter'> | undefined;
}

/** `web_search`, `web_browse` and `fetch_url`, with their guide. Every address that a model names goes through the guarded client. */
export const web = (options: WebOptions = {}): Plugin => ({
  name: 'web',
  setup: (gantry) => {
    const { env = process.env, isOwnListener, network, meter = metrics.getMeter('gantry') } = options;
    const { clock, log } = gantry;
    const settings: WebSettings = { ...defaultWebSettings, ...definedOnly(options) };
    const policy = readNetPolicy(env);
    const clients = createWebClients(policy, { ...network, isOwnListener, clock });
    gantry.onStop(() => clients[Symbol.asyncDispose]());
    const rendering = chooseRendering(settings, {
      policy,
      env,
      clock,
      log,
      isOwnListener,
      network,
      fetch: clients.operator.fetch,
    });
    gantry.onStop(() => rendering[Symbol.asyncDispose]());
    const render = options.render ?? rendering.render;
    const insteadOf = createInsteadOf(gantry.callable);
    const readers = makeReaders(gantry, settings, { policy, clients, render });
    const tools = [
      makeWebSearch(gantry, settings, { clients, env, meter }),
      webBrowseTool({
        reader: readers.browse,
        stashPage: createStashPage(gantry.memory, {
          chunkMaxLength: settings.chunkMaxLength,
          ttlMs: settings.chunkTtlMinutes * 60_000,
        }),
        chunkingThreshold: settings.chunkingThreshold,
        insteadOf,
        newId,
      }),
      fetchUrlTool({
        read: readers.fetch.read,
        userAgent: productAgent,
        maxContentLength: settings.maxContentLength,
        clock,
      }),
    ];
    for (const tool of tools) gantry.tools.register(tool.registration, tool.executor);
    gantry.guides.add(webGuide({ canRender: render !== undefined, insteadOf }));
  },
});

const definedOnly = (options: WebOptions): Partial<WebSettings> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
