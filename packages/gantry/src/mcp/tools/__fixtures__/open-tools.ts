import type { Bus } from '../../../bus/bus.ts';
import { createEnvelope } from '../../../bus/envelope.ts';
import { createInProcessBus } from '../../../bus/in-process-bus.ts';
import { topics } from '../../../bus/topics.ts';
import type { Invoker } from '../../../invoke/invoker.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { silentLog } from '../../../kernel/log.ts';
import { openSqliteStore } from '../../../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../../store/store.ts';
import type { FakeClock } from '../../../testing/fake-clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { makeInvoker } from '../../../testing/make-invoker.ts';
import { testKeyring } from '../../../testing/test-keyring.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { EmbeddingModel } from '../../../tool/embedding-model.ts';
import type { ToolInvokeRequest } from '../../../tool/messages.ts';
import { toReply } from '../../../tool/messages.ts';
import { createGuideShelf } from '../../../tool/guide.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { textOutcome } from '../../../tool/outcome.ts';
import { outcomeText } from '../../../tool/outcome-text.ts';
import type { ToolRegistry } from '../../../tool/registry.ts';
import { createToolRegistry } from '../../../tool/registry.ts';
import type { AvailabilityCheck } from '../../../toolset/availability.ts';
import type { Toolsets } from '../../../toolset/toolset.ts';
import { createToolsets } from '../../../toolset/toolset.ts';
import type { DownstreamPrompt, DownstreamTool, ServerIdentity } from '../../wire/manage-messages.ts';
import { manageMessageTypes } from '../../wire/manage-messages.ts';
import type { KnowsServer } from '../knows-server.ts';
import type { McpTools, McpToolsSettings } from '../mcp-tools.ts';
import { createMcpTools } from '../mcp-tools.ts';
import type { FamilyServers } from '../typed/stand-ins.ts';
import { announce, summary } from './announce.ts';

/** What a server of the fake bridge offers. */
export interface FakeServer {
  readonly tools?: readonly DownstreamTool[] | undefined;
  readonly prompts?: readonly DownstreamPrompt[] | undefined;
  readonly identity?: Partial<ServerIdentity> | undefined;
  readonly summary?: string | undefined;
}

/** A tool that a server lists. */
export const tool = (name: string, change: Partial<DownstreamTool> = {}): DownstreamTool => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...change,
});

/** A call that reached the fake bridge. */
export interface SentCall extends ToolInvokeRequest {
  readonly server: string;
}

/** The agent side over a fake bridge, with the real call path before it. */
export interface OpenTools extends AsyncDisposable {
  readonly mcp: McpTools;
  readonly registry: ToolRegistry;
  readonly toolsets: Toolsets;
  readonly invoker: Invoker;
  readonly clock: FakeClock;
  readonly bus: Bus;
  readonly store: Store;
  readonly sent: readonly SentCall[];
  readonly warnings: readonly string[];
  /** Connects servers, or changes what they offer. */
  connect(servers: Readonly<Record<string, FakeServer>>): Promise<void>;
  disconnect(...names: readonly string[]): Promise<void>;
  /** Names in a caller's list: without those of the registry when `typedOnly`. */
  listed(context: CallContext): readonly string[];
  /** Calls a tool and gives the text of the outcome. */
  call(name: string, args: object, context: CallContext): Promise<string>;
  outcome(name: string, args: object, context: CallContext): Promise<Outcome>;
}

/** How it is opened. */
export interface OpenToolsOptions {
  readonly settings?: McpToolsSettings | undefined;
  readonly answer?: ((call: SentCall) => Outcome) | undefined;
  /** What the bridge answers to management requests; undefined leaves the request to the servers that are there. */
  readonly manage?:
    | ((messageType: string, body: unknown) => { messageType: string; body: unknown } | 'silent' | undefined)
    | undefined;
  readonly exposes?: AvailabilityCheck | undefined;
  readonly knows?: KnowsServer | undefined;
  readonly store?: Store | undefined;
  readonly embedding?: EmbeddingModel | undefined;
  readonly familyServers?: FamilyServers | undefined;
  readonly dataDir?: string | undefined;
}

/** Opens it. */
export const openTools = async (options: OpenToolsOptions = {}): Promise<OpenTools> => {
  const bus = createInProcessBus({ log: silentLog });
  const clock = fakeClock();
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_facts, message) => warnings.push(message) };
  const registry = createToolRegistry();
  const toolsets = createToolsets({ registry, log, exposes: options.exposes });
  const store = options.store ?? (await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k'), log }));
  const mcp = await createMcpTools({
    bus,
    agent: 'main',
    registry,
    guides: createGuideShelf(),
    fit: toolsets.fit,
    knows: options.knows,
    store,
    dataDir: options.dataDir ?? '/nowhere',
    clock,
    log,
    settings: options.settings,
    embedding: options.embedding,
    familyServers: options.familyServers,
  });
  toolsets.offer(mcp.typed);
  const invoker = makeInvoker(registry, {
    lookUp: toolsets.find,
    callableNames: toolsets.names,
    explainMissing: toolsets.missing,
    howToFind: toolsets.howToFind,
    clock,
  });

  const servers = new Map<string, FakeServer>();
  const sent: SentCall[] = [];
  await bus.subscribe(topics.mcpManage, 'bridge-manage', async ({ messageType, body, correlationId, replyTo = '' }) => {
    const answered = options.manage?.(messageType, body) ?? detailsOf(servers, messageType, body);
    if (answered === 'silent') return 'ack';
    await bus.publish(replyTo, createEnvelope({ ...answered, source: 'bridge', correlationId }));
    return 'ack';
  });
  await bus.subscribe(topics.mcpInvoke, 'bridge-invoke', async ({ headers, body, correlationId, replyTo = '' }) => {
    const call: SentCall = { ...(body as ToolInvokeRequest), server: headers['gantry-mcp-server'] ?? '' };
    sent.push(call);
    const outcome = options.answer?.(call) ?? textOutcome(`${call.server}/${call.toolName} ran`);
    const { type, body: reply } = toReply(outcome, { id: call.toolCallId, name: call.toolName });
    await bus.publish(replyTo, createEnvelope({ messageType: type, source: 'bridge', body: reply, correlationId }));
    return 'ack';
  });

  let round = 0;
  const outcome = (name: string, args: object, context: CallContext): Promise<Outcome> =>
    invoker.invoke({ name, arguments: JSON.stringify(args) }, context);
  return {
    mcp,
    registry,
    toolsets,
    invoker,
    clock,
    bus,
    store,
    sent,
    warnings,
    connect: async (added) => {
      round += 1;
      for (const [name, server] of Object.entries(added)) servers.set(name, server);
      const summaries = Object.entries(added).map(([name, { tools = [], prompts = [], summary: text = '' }]) =>
        summary(name, {
          fingerprint: `f${round}`,
          summary: text,
          toolCount: tools.length,
          toolNames: tools.map((one) => one.name),
          promptCount: prompts.length,
          promptNames: prompts.map((one) => one.name),
        }),
      );
      await announce(bus, mcp.index, { servers: summaries });
    },
    disconnect: (...names) => {
      for (const name of names) servers.delete(name);
      return announce(bus, mcp.index, { removedServers: names });
    },
    listed: (context) => {
      const names = toolsets.for(context).tools.map(({ name }) => name);
      return names.filter((name) => !registry.get(name));
    },
    outcome,
    call: async (name, args, context) => outcomeText(await outcome(name, args, context)),
    [Symbol.asyncDispose]: async () => {
      await mcp[Symbol.asyncDispose]();
      await bus[Symbol.asyncDispose]();
      if (!options.store) await store[Symbol.asyncDispose]();
    },
  };
};

const detailsOf = (
  servers: ReadonlyMap<string, FakeServer>,
  messageType: string,
  body: unknown,
): { messageType: string; body: unknown } => {
  const asked = isObject(body) ? String(body['serverName']) : '';
  const known = [...servers].find(([name]) => name.toLowerCase() === asked.toLowerCase());
  if (messageType !== manageMessageTypes.getDetails || !known)
    return { messageType: manageMessageTypes.error, body: { error: `There is no server "${asked}".` } };
  const [name, { tools = [], prompts = [], identity }] = known;
  const wanted = isObject(body) ? body['toolName'] : undefined;
  return {
    messageType: manageMessageTypes.details,
    body: {
      server: { name, id: `id-of-${name}`, ...identity },
      tools: wanted === undefined ? tools : tools.filter((one) => one.name === wanted),
      prompts: wanted === undefined ? prompts : [],
      resourceCount: 0,
      resourceTemplateCount: 0,
    },
  };
};
