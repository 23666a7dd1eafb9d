import type { JsonObject } from '../kernel/json.ts';
import type { RenderSettings } from './render/render-settings.ts';
import type { SafeSearch } from './search/search-engine.ts';

/** Settings of the web tools; section `web` of the configuration. */
export interface WebSettings extends RenderSettings {
  /** Key of the Brave Search API; default the variable that `apiKeyEnvVar` names. */
  readonly apiKey?: string | undefined;
  readonly apiKeyEnvVar: string;
  readonly maxSearchResults: number;
  readonly searchMinIntervalMs: number;
  readonly searchMaxRetries: number;
  readonly searchRetryBaseDelayMs: number;
  readonly searchRetryMaxDelayMs: number;
  readonly searchTimeoutMs: number;
  readonly safeSearch?: SafeSearch | undefined;
  readonly searchLanguage?: string | undefined;
  readonly searxngBaseUrl?: string | undefined;
  readonly healthcheckCacheSec: number;
  /** Name of a registered tool that answers a `query`: the last resort of a search. */
  readonly answerTool?: string | undefined;
  readonly chunkingThreshold: number;
  readonly chunkMaxLength: number;
  readonly chunkTtlMinutes: number;
  readonly shellMinContentChars: number;
  readonly fetchTimeoutMs: number;
  /** Default 5 in production, 50 elsewhere. */
  readonly maxFetchSizeMb?: number | undefined;
  readonly maxContentLength: number;
  readonly maxRedirects: number;
  readonly fetchEngineOrder: string;
  readonly crawl4aiBaseUrl?: string | undefined;
  /** What the server leaves out: `fit` (the page's frame), `raw` (nothing), `bm25` or `llm`. */
  readonly crawl4aiFilter: string;
  /** Cookies that its browser has for every page. */
  readonly crawl4aiCookies?: readonly JsonObject[] | undefined;
  /** Sent to the API of GitHub for issues and pull requests. */
  readonly githubToken?: string | undefined;
}

/** The settings where nothing is said. */
export const defaultWebSettings: WebSettings = {
  apiKeyEnvVar: 'BRAVE_API_KEY',
  maxSearchResults: 5,
  searchMinIntervalMs: 1100,
  searchMaxRetries: 1,
  searchRetryBaseDelayMs: 1000,
  searchRetryMaxDelayMs: 8000,
  searchTimeoutMs: 5000,
  healthcheckCacheSec: 60,
  chunkingThreshold: 8000,
  chunkMaxLength: 4000,
  chunkTtlMinutes: 30,
  shellMinContentChars: 200,
  fetchTimeoutMs: 15_000,
  maxContentLength: 50_000,
  maxRedirects: 5,
  fetchEngineOrder: 'safe_http',
  crawl4aiFilter: 'fit',
  rendering: 'auto',
  renderTimeoutSeconds: 30,
};
