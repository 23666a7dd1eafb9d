import type { IncomingMessage, ServerResponse } from 'node:http';
import { createAccessCheck } from './access-check.ts';
import { isWhole } from '../net/whole-response.ts';
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
const message = /^(\/mcp(?:\/([\w.-]+))?)(?:\?|$)/;

/**
 * Makes what serves every request: the routes, and beside them the one way that has to be short. Messages of MCP clients are served past the
 * router, whose layers cost a tenth of a passed call; who is let in is decided by the same check.
 */
export const createFetch = (options: AppOptions): Fetch => {
  const { face, log, allowedOrigins = [] } = options;
  const access = createAccessCheck(options);
  const app = createApp(options, access);
  // Pages of other origins need headers on every answer, which the router writes.
  const isShort = allowedOrigins.length === 0;

  const serve = async (request: Request, path: string, server: string | undefined): Promise<Response> => {
    const refusal = access.refuseAddress(request);
    if (refusal) return refusal;
    const admitted = await access.admit(request, path);
    if ('refusal' in admitted) return admitted.refusal;
    const { client } = admitted;
    const response = await (server === undefined
      ? face.handleHttp(request, { client })
      : face.handlePass(request, server, { client }));
    return isWhole(response) ? response : admitted.hold(response);
  };

  const serveShort = async (request: Request, target: string): Promise<Response | undefined> => {
    if (!isShort || request.method !== 'POST') return undefined;
    const [, path, server] = message.exec(target) ?? [];
    if (path === undefined) return undefined;
    try {
      return await serve(request, path, server);
    } catch (error) {
      return unexpected(error, path, log);
    }
  };

  return async (request, { incoming, outgoing }) => {
    const served = await serveShort(request, incoming.url ?? '');
    const response = served ?? (await app.fetch(request, { incoming, outgoing }));
    return isWhole(response) ? response : breakingOff(response, outgoing, log);
  };
};
