import * as z from 'zod';
import type { WebSettings } from '../../web/web-settings.ts';
import { defaultWebSettings } from '../../web/web-settings.ts';

const positive = z.number().int().positive();
const count = z.number().int().nonnegative();
const usual = defaultWebSettings;

/** Section `web`. */
export const webConfig: z.ZodType<WebSettings> = z.strictObject({
  apiKey: z.string().min(1).optional().describe('Key of the Brave Search API; wins over apiKeyEnvVar.'),
  apiKeyEnvVar: z.string().min(1).default(usual.apiKeyEnvVar).describe('Environment variable that holds the key.'),
  maxSearchResults: positive
    .max(20)
    .default(usual.maxSearchResults)
    .describe('Results of a search that asks for no number.'),
  searchMinIntervalMs: count
    .default(usual.searchMinIntervalMs)
    .describe('Between the starts of two requests to Brave; 0 = one at a time without a pause.'),
  searchMaxRetries: count
    .default(usual.searchMaxRetries)
    .describe('Further tries when Brave is too busy (HTTP 429 or 503).'),
  searchRetryBaseDelayMs: count
    .default(usual.searchRetryBaseDelayMs)
    .describe('Wait before the first of them, where Brave names none; doubles each time.'),
  searchRetryMaxDelayMs: count.default(usual.searchRetryMaxDelayMs).describe('The longest such wait.'),
  searchTimeoutMs: positive.min(1000).default(usual.searchTimeoutMs).describe('How long SearXNG may take.'),
  safeSearch: z
    .enum(['off', 'moderate', 'strict'])
    .optional()
    .describe("Filter of searches; default each engine's own."),
  searchLanguage: z
    .string()
    .regex(/^[a-z]{2}$/, 'two lower-case letters')
    .optional()
    .describe('Language of searches that name none.'),
  searxngBaseUrl: z.url().optional().describe('Address of a SearXNG instance with its JSON format enabled.'),
  healthcheckCacheSec: positive
    .min(5)
    .default(usual.healthcheckCacheSec)
    .describe('How long it is believed that SearXNG is up or down.'),
  answerTool: z
    .string()
    .min(1)
    .optional()
    .describe('A registered tool that takes a "query" and answers it: asked when every search engine failed.'),
  chunkingThreshold: positive
    .default(usual.chunkingThreshold)
    .describe('Longest page, in characters, that web_browse gives whole.'),
  chunkMaxLength: positive
    .default(usual.chunkMaxLength)
    .describe('Longest piece of a page that is split, in characters.'),
  chunkTtlMinutes: positive.default(usual.chunkTtlMinutes).describe('How long the pieces are kept.'),
  shellMinContentChars: count
    .default(usual.shellMinContentChars)
    .describe('A page with fewer readable characters may be a consent wall or a loader.'),
  fetchTimeoutMs: positive.min(1000).default(usual.fetchTimeoutMs).describe('How long one page may take to download.'),
  maxFetchSizeMb: z
    .number()
    .positive()
    .optional()
    .describe('Most that is downloaded of a page, after decompression; default 5 in production, 50 elsewhere.'),
  maxContentLength: positive.default(usual.maxContentLength).describe('Most characters of one result of fetch_url.'),
  maxRedirects: count.max(20).default(usual.maxRedirects).describe('Redirects that are followed.'),
  fetchEngineOrder: z
    .string()
    .default(usual.fetchEngineOrder)
    .describe('Who fetches for fetch_url: safe_http, and crawl4ai before it where private networks are open.'),
  crawl4aiBaseUrl: z.url().optional().describe('Address of a Crawl4AI server.'),
  crawl4aiFilter: z
    .string()
    .default(usual.crawl4aiFilter)
    .describe('What that server leaves out of a page: fit (its frame), raw (nothing), bm25 or llm.'),
  crawl4aiCookies: z
    .array(z.record(z.string(), z.json()))
    .optional()
    .describe('Cookies that its browser has for every page: objects with name, value and url, or domain and path.'),
  rendering: z
    .enum(['auto', 'off'])
    .default(usual.rendering)
    .describe(
      'auto: pages that need a browser are shown in the render service, or in Chromium if it is installed here.',
    ),
  renderServiceUrl: z.url().optional().describe('Address of a render service ("gantry serve --role browser").'),
  renderServiceToken: z.string().min(1).optional().describe('Token that the render service asks for.'),
  renderTimeoutSeconds: z
    .number()
    .positive()
    .max(300)
    .default(usual.renderTimeoutSeconds)
    .describe('How long a page may take in the browser.'),
  browserPath: z.string().min(1).optional().describe('Path of Chromium; default the one that PATH leads to.'),
  githubToken: z
    .string()
    .min(1)
    .optional()
    .describe("For GitHub's API: private repositories, and a higher rate limit."),
});
