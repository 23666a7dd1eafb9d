import type { IncomingMessage, ServerResponse } from 'node:http';
import { createAccessCheck } from './access-check.ts';
import { breakingOff } from './broken-stream.ts';
import type { AppOptions } from './create-app.ts';
import { createApp } from './create-app.ts';
import { unexpected } from './refusal.ts';

/** Serves one request; `incoming` and `outgoing` are what the listener has of it. */
export type Fetch = (
  request: Request,
  connection: { readonly incoming: Pick<IncomingMessage, 'url'>; readonly outgoing: ServerResponse },
) => Promise<Response>;

// Only names that stand in a path as they are; what is written in another way is for the router to read.
const messageToServer = /^\/mcp\/([\w.-]+)$/;

/**
 * Makes what serves every request: the routes, and beside them the one way that has to be short. A message for one server is passed through
 * past the router, whose layers cost a tenth of such a call; who is let in is decided by the same check.
 */
export const createFetch = (options: AppOptions): Fetch => {
  const { face, log, allowedOrigins = [] } = options;
  const access = createAccessCheck(options);
  const app = createApp(options, access);
  // Pages of other origins need headers on every answer, which the router writes.
  const isShort = allowedOrigins.length === 0;

  const passOn = async (
    request: Request,
    path: string,
    server: string,
    outgoing: ServerResponse,
  ): Promise<Response> => {
    const refusal = access.refuseAddress(request);
    if (refusal) return refusal;
    const admitted = await access.admit(request, path);
    if ('refusal' in admitted) return admitted.refusal;
    const { response, text } = await face.handlePass(request, server, { client: admitted.client });
    return text === undefined ? breakingOff(admitted.hold(response), outgoing, log) : response;
  };

  return async (request, { incoming, outgoing }) => {
    const path = incoming.url ?? '';
    const server = isShort && request.method === 'POST' ? messageToServer.exec(path)?.[1] : undefined;
    if (server === undefined) return breakingOff(await app.fetch(request, { incoming, outgoing }), outgoing, log);
    try {
      return await passOn(request, path, server, outgoing);
    } catch (error) {
      return unexpected(error, path, log);
    }
  };
};
