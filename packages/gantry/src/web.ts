/** Searching the web and reading pages: the plugin. */
export { web } from './web/web.ts';
export type { WebOptions } from './web/web.ts';
export { braveKeyName } from './web/search/brave-keys.ts';
