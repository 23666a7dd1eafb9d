import type {
  InputRequiredResult,
  JSONRPCErrorResponse,
  jsonSchemaValidator,
  McpRequestContext,
  ServerContext,
  Transport,
} from '@modelcontextprotocol/server';
import { ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { Invoker } from '../../invoke/invoker.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { Toolsets } from '../../toolset/toolset.ts';
import { withPlainIssues } from '../wire/plain-issues.ts';
import type { Asks, OnAsked } from '../../tool/context.ts';
import { askOnStream } from './ask-on-stream.ts';
import type { AskedCalls } from './asked-calls.ts';
import { askedInMeta, askedOfOlder } from './asks-of-client.ts';
import type { CallAnswer, ClientCall, ProgressParams } from './call-tool.ts';
import { callTool } from './call-tool.ts';
import type { AdmitCall } from './admit-call.ts';
import type { FirstTools } from './first-tools.ts';
import { createNoticeBudget } from './notice-budget.ts';
import type { ToolPages } from './tool-pages.ts';
import type { Visitor } from './visitor.ts';

/** What every protocol server of the face shares. */
export interface FaceParts {
  readonly name: string;
  readonly version: string;
  /** Told to clients when they connect. */
  readonly instructions?: string | undefined;
  readonly toolsets: Toolsets;
  readonly invoker: Invoker;
  readonly pages: ToolPages;
  readonly firstTools: FirstTools;
  readonly admit?: AdmitCall | undefined;
  /** Calls of clients of 2026 in the middle of which they are asked; without it they are not. */
  readonly askedCalls?: AskedCalls | undefined;
  readonly log: Log;
  /** Shared, because a server makes one of its own otherwise, and there may be a server per request. */
  readonly schemaValidator: jsonSchemaValidator;
}

/** Makes the protocol server of one connection, or of one request where the protocol knows no connections. */
export const createFaceServer = (parts: FaceParts, visitor: Visitor, era: McpRequestContext['era']): Server => {
  const { name, version, instructions, pages, log, schemaValidator } = parts;
  const server = new PlainServer(
    { name, version },
    {
      capabilities: { tools: { listChanged: true } },
      ...(instructions !== undefined && { instructions }),
      jsonSchemaValidator: schemaValidator,
    },
  );
  server.onerror = (error) => log.debug({ reason: messageOf(error) }, 'an MCP message could not be served');
  server.setRequestHandler('tools/list', async (request) => {
    await parts.firstTools.pending;
    await pages.prepare(visitor);
    return pages.page(visitor, request.params?.cursor);
  });
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const { mcpReq } = ctx;
    const isTold = createNoticeBudget();
    // The client may have gone; the call goes on or is cancelled elsewhere.
    const notify = (progress: ProgressParams): void => {
      if (!isTold(progress)) return;
      mcpReq
        .notify({ method: 'notifications/progress', params: { ...progress } })
        .catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'progress could not be told to a client'));
    };
    const call = { name: params.name, arguments: params.arguments as JsonObject | undefined, meta: mcpReq._meta };
    const answer =
      era === 'modern'
        ? await callAsModern(parts, visitor, { ...call, notify }, ctx)
        : await callTool(parts, visitor, {
            ...call,
            signal: mcpReq.signal,
            notify,
            asking: askingOf(askedOfOlder(server.getClientCapabilities()), (question, signal) =>
              askOnStream(question, ctx, signal),
            ),
          });
    return isInputRequired(answer) ? answer : server.projectCallToolResult(answer.result, answer.outputSchema);
  });
  return server;
};

/** A call of a client of 2026, which says with each request what it can be asked for. */
const callAsModern = async (
  parts: FaceParts,
  visitor: Visitor,
  call: Omit<ClientCall, 'signal'>,
  { mcpReq }: ServerContext,
): Promise<CallAnswer | InputRequiredResult> => {
  const { signal, envelope = {}, inputResponses = {} } = mcpReq;
  const state = mcpReq.requestState();
  const asks = askedInMeta(envelope);
  if (!parts.askedCalls || (!asks && state === undefined)) return await callTool(parts, visitor, { ...call, signal });
  const { notify } = call;
  const progressToken = mcpReq._meta?.progressToken;
  return await parts.askedCalls.serve({
    client: visitor.client,
    tool: call.name,
    state,
    responses: inputResponses,
    signal,
    // Each of its requests has a token of its own.
    notify: (progress) => {
      if (progressToken !== undefined) notify({ ...progress, progressToken });
    },
    begin: ({ onAsked, ...running }) =>
      callTool(parts, visitor, { ...call, ...running, asking: askingOf(asks, onAsked) }),
  });
};

const isInputRequired = (answer: CallAnswer | InputRequiredResult): answer is InputRequiredResult =>
  'resultType' in answer;

const askingOf = (asks: Asks | undefined, onAsked: OnAsked): ClientCall['asking'] => asks && { asks, onAsked };

/** Says in plain words what is wrong with a request, where the SDK sends the findings of its schema check. */
class PlainServer extends Server {
  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send('error' in message ? withPlainError(message) : message, options);
    await super.connect(transport);
  }
}

const withPlainError = (answer: JSONRPCErrorResponse): JSONRPCErrorResponse => {
  const { error } = answer;
  const message = withPlainIssues(error.message);
  if (message === error.message) return answer;
  const plain = message.startsWith('Invalid ') ? message : `Invalid request: ${message}`;
  return { ...answer, error: { ...error, code: ProtocolErrorCode.InvalidParams, message: plain } };
};
