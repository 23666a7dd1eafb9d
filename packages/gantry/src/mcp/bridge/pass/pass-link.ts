import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { noAnswerWithin } from '../../wire/no-answer.ts';
import type { PassLink } from '../../wire/pass-port.ts';
import { startExchange } from '../../wire/sessions/exchange.ts';
import type { EnteredCall, OpenCalls } from '../call/open-calls.ts';
import { createOpenCall } from '../elicitation/open-call.ts';
import type { ElicitationPolicy } from '../elicitation/policy.ts';
import type { Connection } from '../connection/open-connection.ts';
import { rawResult } from '../connection/watch-transport.ts';
import type { ManagedServer } from '../server/managed-server.ts';
import { notPassedOn } from './not-passed-on.ts';

/** The bridge's connection to a server, for requests of others. */
export const createLink = (
  server: ManagedServer,
  { client, channel, isModern }: Connection,
  options: {
    readonly openCalls: OpenCalls;
    readonly policy: ElicitationPolicy;
    readonly timeoutMs: number;
    readonly maxTimeoutMs: number;
  },
): PassLink => {
  const { name = server.name, version = '0' } = client.getServerVersion() ?? {};
  // An older server asks over the bridge's session, which is answered by the server's policy.
  const enter = (method: string, params: JsonObject): Disposable | undefined =>
    method === 'tools/call' || method === 'tasks/result'
      ? options.openCalls.enter(server.name, toEntered(server, params, options.policy))
      : undefined;
  return {
    serverInfo: { name, version },
    capabilities: (client.getServerCapabilities() ?? {}) as JsonObject,
    instructions: client.getInstructions(),
    request: async (method, params, { signal, onProgress }) => {
      // Leased anew for each request: sessions of clients outlive connections.
      using lease = server.lease() ?? (await server.leaseConnected({ signal }));
      const { connection } = lease.snapshot;
      using _asked = enter(method, params);
      try {
        return await connection.client.request({ method, params: { ...params } }, rawResult, {
          signal,
          timeout: options.timeoutMs,
          maxTotalTimeout: options.maxTimeoutMs,
          resetTimeoutOnProgress: true,
          ...(onProgress && { onprogress: (progress) => onProgress({ ...progress }) }),
        });
      } catch (error) {
        if (signal.aborted || GantryError.is(error)) throw error;
        const limitMs = timeLimitOf(error, options);
        if (limitMs !== undefined) throw noAnswerWithin(server.name, limitMs);
        const rpc = rpcErrorOf(error, server.maskSecrets);
        if (rpc) throw new GantryError('execution_failed', rpc.message, { details: { rpc }, cause: error });
        throw notPassedOn(server, error, { isRequest: true, hadSession: connection.hasSession() });
      }
    },
    ...(channel && {
      startExchange: (request) =>
        startExchange({
          id: request.id,
          send: async (take, signal) => {
            using lease = server.lease() ?? (await server.leaseConnected({ signal }));
            const { connection } = lease.snapshot;
            if (!connection.channel || connection.isModern !== isModern) throw speaksOtherwise(server.name);
            using _asked = enter(request.method, request.params);
            await connection.channel.send(request, take, signal);
          },
          // It is asked in answers (2026), or over the session of the bridge (2025).
          tell: async () => {},
          tellsCancelled: false,
          toError: (error) => notPassedOn(server, error, { isRequest: true }),
          mask: server.maskSecrets,
          onTrouble: () => {},
        }),
    }),
  };
};

const speaksOtherwise = (name: string): GantryError =>
  new GantryError(
    'server_unreachable',
    `Server "${name}" speaks another protocol since it was connected again; connect to it anew.`,
    { details: { name } },
  );

const toEntered = (server: ManagedServer, params: JsonObject, policy: ElicitationPolicy): EnteredCall => ({
  open: createOpenCall({
    server: server.name,
    tool: typeof params['name'] === 'string' ? params['name'] : '',
    args: isObject(params['arguments']) ? params['arguments'] : {},
    policy,
  }),
  // The time of the call is its client's.
  budget: { pause: () => ({ [Symbol.dispose]: () => {} }) },
});

/** How long the server was waited for, where the SDK gave up for that. */
const timeLimitOf = (
  error: unknown,
  { timeoutMs, maxTimeoutMs }: { readonly timeoutMs: number; readonly maxTimeoutMs: number },
): number | undefined => {
  if (!isObject(error) || error['code'] !== 'REQUEST_TIMEOUT') return undefined;
  return isObject(error['data']) && 'maxTotalTimeout' in error['data'] ? maxTimeoutMs : timeoutMs;
};

/** An error that the server itself answered with. The SDK's own have codes that are texts. */
const rpcErrorOf = (
  error: unknown,
  mask: (text: string) => string,
): { readonly code: number; readonly message: string; readonly data?: unknown } | undefined => {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'number') return undefined;
  const data = 'data' in error ? error.data : undefined;
  return { code: error.code, message: mask(error.message), ...(isObject(data) && { data }) };
};
