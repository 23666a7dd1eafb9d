/**
 * As much of undici as the command uses: connections, and the web's classes. Its own entry loads all of it (caches, mocks, web sockets), which
 * takes 2 MB of memory.
 */
import api from 'undici/lib/api/index.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';

export { default as buildConnector } from 'undici/lib/core/connect.js';
export { getGlobalDispatcher, setGlobalDispatcher } from 'undici/lib/global.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';

// As its entry does: `request` and the others are methods of every connection.
Object.assign(Dispatcher.prototype, api);

/** Loaded by commands that ask a gateway, not by the gateway itself. */
export const fetch = async (...given) => (await import('undici/lib/web/fetch/index.js')).default.fetch(...given);

// As its entry does: what a request may hold as its body is defined by the response.
export { Headers } from 'undici/lib/web/fetch/headers.js';
export { Response } from 'undici/lib/web/fetch/response.js';
export { Request } from 'undici/lib/web/fetch/request.js';
export { FormData } from 'undici/lib/web/fetch/formdata.js';
export { CloseEvent, ErrorEvent, MessageEvent } from 'undici/lib/web/websocket/events.js';
