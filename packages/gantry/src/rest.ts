/** HTTP endpoints as tools: the plugin. */
export { rest } from './rest/rest.ts';
export type { RestOptions, RestSettings } from './rest/rest.ts';
export type { RestAuth, RestEndpoint, RestMethod } from './rest/endpoint.ts';
