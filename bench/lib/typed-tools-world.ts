import type { Gantry, Plugin } from 'gantry';
import { createGantry, silentLog } from 'gantry';
import { createEnvelope } from '../../packages/gantry/src/bus/envelope.ts';
import { topics } from '../../packages/gantry/src/bus/topics.ts';
import { createMcpTools } from '../../packages/gantry/src/mcp/tools/mcp-tools.ts';
import type { ToolInvokeRequest } from '../../packages/gantry/src/tool/messages.ts';
import { toReply } from '../../packages/gantry/src/tool/messages.ts';
import { textOutcome } from '../../packages/gantry/src/tool/outcome.ts';
import type { ServerSummary } from '../../packages/gantry/src/mcp/wire/index-message.ts';
import { serversIndexedType } from '../../packages/gantry/src/mcp/wire/index-message.ts';
import type { DownstreamTool, ServiceDetails } from '../../packages/gantry/src/mcp/wire/manage-messages.ts';
import { manageMessageTypes } from '../../packages/gantry/src/mcp/wire/manage-messages.ts';

const verbs = ['create', 'list', 'get', 'update', 'delete', 'search', 'export', 'archive', 'assign', 'approve'];
const nouns = [
  'invoice',
  'ticket',
  'customer',
  'order',
  'calendar_event',
  'contract',
  'document',
  'shipment',
  'lead',
  'expense',
];
const toolsPerServer = 20;

/** One of many tools of the usual shape: a sentence or two, four arguments, one of them a choice. */
const toolAt = (at: number): DownstreamTool => {
  const verb = verbs[at % verbs.length] as string;
  const noun = nouns[Math.floor(at / verbs.length) % nouns.length] as string;
  const words = noun.replaceAll('_', ' ');
  return {
    name: `${verb}_${noun}`,
    description: `${verb[0]?.toUpperCase()}${verb.slice(1)}s a ${words} in the workspace and returns the affected record with its identifier, its current state and a link. Fails when the ${words} is locked by another user.`,
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'string', description: `Identifier of the ${words}, as returned by list_${noun}.` },
        fields: {
          type: 'array',
          items: { type: 'string' },
          description: 'Names of the fields to return; default all.',
        },
        state: {
          type: 'string',
          enum: ['open', 'in_progress', 'closed'],
          description: `Only a ${words} in this state.`,
        },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many records at most.' },
      },
      required: ['id'],
    },
  };
};

/** A Gantry whose agent side knows so many typed tools, spread over servers; no server behind them is real. */
export const openTypedTools = async (count: number): Promise<Gantry> => {
  const servers = new Map<string, DownstreamTool[]>();
  for (let at = 0; at < count; at += 1) {
    const name = `server${String(Math.floor(at / toolsPerServer)).padStart(2, '0')}`;
    servers.set(name, [...(servers.get(name) ?? []), toolAt(at)]);
  }
  const applied = Promise.withResolvers<void>();
  const plugin: Plugin = {
    name: 'typed-tools',
    setup: async (gantry) => {
      const { agent, bus, tools: registry, guides, store, dataDir, clock, log } = gantry;
      const side = await createMcpTools({
        agent,
        bus,
        registry,
        guides,
        store,
        dataDir,
        clock,
        log,
        fit: gantry.fitTool,
      });
      gantry.offerTypedTools(side.typed);
      gantry.onStop(() => side[Symbol.asyncDispose]());
      side.index.onMessage(() => applied.resolve());
      await bus.subscribe(topics.mcpManage, 'bench-bridge', async ({ body, correlationId, replyTo = '' }) => {
        const { serverName } = body as { serverName: string };
        const tools = servers.get(serverName) ?? [];
        const details: ServiceDetails = {
          server: { name: serverName, id: serverName },
          tools,
          prompts: [],
          resourceCount: 0,
          resourceTemplateCount: 0,
        };
        const messageType = manageMessageTypes.details;
        await bus.publish(replyTo, createEnvelope({ messageType, source: 'bench', body: details, correlationId }));
        return 'ack';
      });
      await bus.subscribe(topics.mcpInvoke, 'bench-invoke', async ({ body, correlationId, replyTo = '' }) => {
        const { toolCallId, toolName } = body as ToolInvokeRequest;
        const reply = toReply(textOutcome('x '.repeat(200)), { id: toolCallId, name: toolName });
        await bus.publish(
          replyTo,
          createEnvelope({ messageType: reply.type, source: 'bench', body: reply.body, correlationId }),
        );
        return 'ack';
      });
      const body = { servers: [...servers].map(([name, tools]) => summaryOf(name, tools)), removedServers: [] };
      await bus.publish(
        topics.mcpMetaOf(agent),
        createEnvelope({ messageType: serversIndexedType, source: 'bench', body }),
      );
    },
  };
  const gantry = await createGantry({ dataDir: ':memory:', log: silentLog }).use(plugin).start();
  await applied.promise;
  return gantry;
};

const summaryOf = (serverName: string, tools: readonly DownstreamTool[]): ServerSummary => ({
  serverName,
  serverId: serverName,
  summary: '',
  toolCount: tools.length,
  toolNames: tools.map(({ name }) => name),
  promptCount: 0,
  promptNames: [],
  resourceCount: 0,
  resourceNames: [],
  fingerprint: 'f',
  toolFingerprints: {},
  identityHash: '',
  handback: false,
  tasks: false,
});
