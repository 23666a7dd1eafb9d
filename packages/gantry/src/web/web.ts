import type { Meter } from '@opentelemetry/api';
import { metrics } from '@opentelemetry/api';
import { newId } from '../kernel/ids.ts';
import type { IsOwnListener } from '../net/address/own-listeners.ts';
import type { NetPolicy } from '../net/address/policy.ts';
import { opensPrivateNetworks, readNetPolicy } from '../net/address/policy.ts';
import type { GuardedClient } from '../net/guarded-client.ts';
import { createGuardedClient } from '../net/guarded-client.ts';
import type { Plugin, PluginHost } from '../plugin/plugin.ts';
import { GantryError } from '../kernel/errors.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import { createCrawl4ai } from './read/crawl4ai.ts';
import { parseEngineOrder } from './read/engine-order.ts';
import { createFetchBody } from './read/fetch-body.ts';
import { fetchUrlTool } from './read/fetch-url-tool.ts';
import { createPageConverter } from './page-converter.ts';
import type { PageReader } from './read/page-reader.ts';
import { createPageReader } from './read/page-reader.ts';
import { createPdfReader } from './read-pdf.ts';
import { createReadGithub } from './read/read-github.ts';
import type { RenderPage } from './read/render-page.ts';
import { chooseRendering } from './render/rendering.ts';
import { createStashPage } from './read/stash-page.ts';
import { webBrowseTool } from './read/web-browse-tool.ts';
import { withCrawl4ai } from './read/with-crawl4ai.ts';
import { braveEngine } from './search/brave.ts';
import { duckDuckGoEngine } from './search/duckduckgo.ts';
import type { HiddenFunction } from './search/hidden-function.ts';
import { hiddenFunctionEngine } from './search/hidden-function.ts';
import { createPacer } from './search/pacer.ts';
import { createSearchChain } from './search/search-chain.ts';
import type { SearchEngine } from './search/search-engine.ts';
import { searxngEngine } from './search/searxng.ts';
import { webSearchTool } from './search/web-search-tool.ts';
import { webGuide } from './web-guide.ts';
import type { WebSettings } from './web-settings.ts';
import { defaultWebSettings } from './web-settings.ts';

/** How the plugin is used. */
export interface WebOptions extends Partial<WebSettings> {
  /** `RUN_ENV`, `FETCH_URL_ALLOW_PRIVATE_NETWORK` and the key's variable; default the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** What this process listens on is never fetched. Default: it listens on nothing. */
  readonly isOwnListener?: IsOwnListener | undefined;
  /** Headless browser; default as `rendering` and its fellows say. Where there is none, pages that need one say so. */
  readonly render?: RenderPage | undefined;
  readonly meter?: Pick<Meter, 'createCounter'> | undefined;
}

const productAgent = 'Gantry/1.0 (tools of an LLM agent)';
const megabyte = 1024 * 1024;

/** `web_search`, `web_browse` and `fetch_url`, with their guide. Every address that a model names goes through the guarded client. */
export const web = (options: WebOptions = {}): Plugin => ({
  name: 'web',
  setup: (gantry) => {
    const { env = process.env, isOwnListener, meter = metrics.getMeter('gantry') } = options;
    const settings: WebSettings = { ...defaultWebSettings, ...definedOnly(options) };
    const policy = readNetPolicy(env);
    const client = (rules: NetPolicy): GuardedClient => {
      const made = createGuardedClient({ policy: rules, isOwnListener, clock: gantry.clock });
      gantry.onStop(() => made[Symbol.asyncDispose]());
      return made;
    };
    const clients = {
      named: client(policy),
      strict: client({ ...policy, strict: true }),
      // The operator wrote these addresses down; only metadata services stay closed.
      operator: client({ production: false, allowPrivateNetwork: true }),
    };
    const { clock, log } = gantry;
    const rendering = chooseRendering(settings, {
      policy,
      env,
      clock,
      log,
      isOwnListener,
      fetch: clients.operator.fetch,
    });
    gantry.onStop(() => rendering[Symbol.asyncDispose]());
    const render = options.render ?? rendering.render;
    const rateLimited = meter.createCounter('gantry.web.search.rate_limited', { unit: '{answer}' });
    const pacer = createPacer({
      clock,
      minIntervalMs: settings.searchMinIntervalMs,
      maxRetries: settings.searchMaxRetries,
      baseDelayMs: settings.searchRetryBaseDelayMs,
      maxDelayMs: settings.searchRetryMaxDelayMs,
      onRateLimited: (outcome) => rateLimited.add(1, { outcome }),
    });
    const searxng = searxngEngine({
      fetch: clients.operator.fetch,
      baseUrl: settings.searxngBaseUrl,
      clock,
      log,
      timeoutMs: settings.searchTimeoutMs,
      healthCacheMs: settings.healthcheckCacheSec * 1000,
    });
    const engines: SearchEngine[] = [
      braveEngine({
        fetch: clients.strict.fetch,
        pacer,
        apiKey: () => settings.apiKey ?? (env[settings.apiKeyEnvVar] || undefined),
      }),
      searxng,
      duckDuckGoEngine({ fetch: clients.strict.fetch, userAgent: productAgent }),
    ];
    if (settings.answerTool !== undefined)
      engines.push(hiddenFunctionEngine(settings.answerTool, registeredFunction(gantry, settings.answerTool)));

    const reader = makeReader(gantry, settings, { policy, render, clients });
    const tools = [
      webSearchTool({
        chain: createSearchChain(engines, log),
        maxSearchResults: settings.maxSearchResults,
        safeSearch: settings.safeSearch,
        language: settings.searchLanguage,
      }),
      webBrowseTool({
        reader: reader.browse,
        stashPage: createStashPage(gantry.memory, {
          chunkMaxLength: settings.chunkMaxLength,
          ttlMs: settings.chunkTtlMinutes * 60_000,
        }),
        chunkingThreshold: settings.chunkingThreshold,
        newId,
      }),
      fetchUrlTool({
        read: reader.fetch.read,
        userAgent: productAgent,
        maxContentLength: settings.maxContentLength,
        clock,
      }),
    ];
    for (const tool of tools) gantry.tools.register(tool.registration, tool.executor);
    gantry.guides.add(webGuide({ canRender: render !== undefined }));
    // What the first turn is told about categories should not have to wait for the second.
    gantry.onStart(() => void searxng.isUp());
  },
});

const makeReader = (
  gantry: PluginHost,
  settings: WebSettings,
  parts: {
    readonly policy: NetPolicy;
    readonly render: RenderPage | undefined;
    readonly clients: {
      readonly named: GuardedClient;
      readonly strict: GuardedClient;
      readonly operator: GuardedClient;
    };
  },
): { readonly browse: PageReader; readonly fetch: PageReader } => {
  const { clock, log } = gantry;
  const { policy, render, clients } = parts;
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
    clock,
    log,
  });
  return { browse, fetch: withCrawl4ai(browse, { crawl4ai, check: clients.named.check, log }) };
};

/** A search function among the tools of this process, called like any other tool. */
const registeredFunction = ({ tools, invoker }: PluginHost, name: string): HiddenFunction => ({
  isRegistered: () => tools.get(name) !== undefined,
  ask: async (query, signal) => {
    const outcome = await invoker.invoke({ name, arguments: { query } }, { caller: 'operator', signal });
    if (outcome.status === 'done') return outcomeText(outcome);
    throw new GantryError('execution_failed', `${name}: ${outcomeText(outcome)}`);
  },
});

const definedOnly = (options: WebOptions): Partial<WebSettings> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
