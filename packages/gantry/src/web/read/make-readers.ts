import type { NetPolicy } from '../../net/address/policy.ts';
import { opensPrivateNetworks } from '../../net/address/policy.ts';
import type { PluginHost } from '../../plugin/plugin.ts';
import { createPageConverter } from '../page-converter.ts';
import { createPdfReader } from '../read-pdf.ts';
import type { WebClients } from '../web-clients.ts';
import { productAgent } from '../web-clients.ts';
import type { WebSettings } from '../web-settings.ts';
import { createCrawl4ai } from './crawl4ai/crawl4ai.ts';
import { parseCrawl4aiFilter } from './crawl4ai/crawl4ai-answers.ts';
import { parseEngineOrder } from './engine-order.ts';
import { createFetchBody } from './fetch-body.ts';
import type { PageReader } from './page-reader.ts';
import { createPageReader } from './page-reader.ts';
import { createReadGithub } from './read-github.ts';
import type { RenderPage } from './render-page.ts';
import { withCrawl4ai } from './crawl4ai/with-crawl4ai.ts';

/** What the readers are made with beside their settings. */
export interface MakeReadersOptions {
  readonly policy: NetPolicy;
  readonly clients: WebClients;
  /** Absent where there is no headless browser. */
  readonly render: RenderPage | undefined;
}

const megabyte = 1024 * 1024;

/** Makes the readers behind `web_browse` and `fetch_url`, which differ in who may try first. */
export const makeReaders = (
  gantry: PluginHost,
  settings: WebSettings,
  { policy, clients, render }: MakeReadersOptions,
): { readonly browse: PageReader; readonly fetch: PageReader } => {
  const { clock, log } = gantry;
  const maxBytes = (settings.maxFetchSizeMb ?? (policy.production ? 5 : 50)) * megabyte;
  const converter = createPageConverter({ clock, log });
  gantry.onStop(() => converter[Symbol.asyncDispose]());
  const browse = createPageReader({
    fetchBody: createFetchBody(clients.named, {
      timeoutMs: settings.fetchTimeoutMs,
      maxBytes,
      maxRedirects: settings.maxRedirects,
    }),
    readGithub: createReadGithub({
      fetch: clients.strict.fetch,
      userAgent: productAgent,
      token: settings.githubToken,
      log,
    }),
    converter,
    readPdf: createPdfReader({ clock }),
    shellMinContentChars: settings.shellMinContentChars,
    render,
    log,
  });
  const order = parseEngineOrder(settings.fetchEngineOrder, { privateNetworksOpen: opensPrivateNetworks(policy), log });
  if (!order.includes('crawl4ai') || settings.crawl4aiBaseUrl === undefined) return { browse, fetch: browse };
  const crawl4ai = createCrawl4ai({
    fetch: clients.operator.fetch,
    baseUrl: settings.crawl4aiBaseUrl,
    timeoutMs: settings.fetchTimeoutMs,
    maxBytes,
    filter: parseCrawl4aiFilter(settings.crawl4aiFilter, log),
    cookies: settings.crawl4aiCookies ?? [],
    clock,
    log,
  });
  return { browse, fetch: withCrawl4ai(browse, { crawl4ai, check: clients.named.check, log }) };
};
