import type { Meter } from '@opentelemetry/api';
import { GantryError } from '../../kernel/errors.ts';
import type { PluginHost } from '../../plugin/plugin.ts';
import type { Tool } from '../../tool/executor.ts';
import { outcomeText } from '../../tool/outcome-text.ts';
import { createVolume } from '../../volume/volume.ts';
import type { WebClients } from '../web-clients.ts';
import { productAgent } from '../web-clients.ts';
import type { WebSettings } from '../web-settings.ts';
import { createAttachImages } from './attach-images.ts';
import { braveEngine } from './brave.ts';
import { braveKeyName, createBraveKeys } from './brave-keys.ts';
import { duckDuckGoEngine } from './duckduckgo.ts';
import type { HiddenFunction } from './hidden-function.ts';
import { hiddenFunctionEngine } from './hidden-function.ts';
import { createPacer } from './pacer.ts';
import { createSearchChain } from './search-chain.ts';
import type { SearchEngine } from './search-engine.ts';
import { searxngEngine } from './searxng.ts';
import { webSearchTool } from './web-search-tool.ts';

/** What the tool is made with beside its settings. */
export interface MakeWebSearchOptions {
  readonly clients: WebClients;
  /** Holds the key of Brave. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly meter: Pick<Meter, 'createCounter'>;
}

/** Makes `web_search` over the engines in the order in which they are asked. */
export const makeWebSearch = (gantry: PluginHost, settings: WebSettings, options: MakeWebSearchOptions): Tool => {
  const { clients, env, meter } = options;
  const { clock, log } = gantry;
  const rateLimited = meter.createCounter('gantry.web.search.rate_limited', { unit: '{answer}' });
  const brave = braveEngine({
    fetch: clients.strict.fetch,
    pacer: createPacer({
      clock,
      minIntervalMs: settings.searchMinIntervalMs,
      maxRetries: settings.searchMaxRetries,
      baseDelayMs: settings.searchRetryBaseDelayMs,
      maxDelayMs: settings.searchRetryMaxDelayMs,
      onRateLimited: (outcome) => rateLimited.add(1, { outcome }),
    }),
    keys: createBraveKeys({
      operatorKey: () => settings.apiKey ?? (env[settings.apiKeyEnvVar] || undefined),
      workspaceKey: (workspace) => gantry.store.secrets.get(braveKeyName(workspace)),
      clock,
      log,
    }),
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
    brave,
    searxng,
    duckDuckGoEngine({ fetch: clients.strict.fetch, userAgent: productAgent }),
  ];
  if (settings.answerTool !== undefined)
    engines.push(hiddenFunctionEngine(settings.answerTool, registeredFunction(gantry, settings.answerTool)));
  // What the first turn is told about categories should not have to wait for the second.
  gantry.onStart(() => void searxng.isUp());
  return webSearchTool({
    chain: createSearchChain(engines, log),
    maxSearchResults: settings.maxSearchResults,
    safeSearch: settings.safeSearch,
    language: settings.searchLanguage,
    attachImages: createAttachImages({
      fetch: clients.named.fetch,
      volume: createVolume(gantry.sharedDir),
      clock,
      log,
    }),
  });
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
