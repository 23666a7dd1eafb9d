import { analyzeFileTool } from '../../agent/analyze-file.ts';
import type { ServiceHints } from '../../agent/context/build-context.ts';
import { defaultSystemPrompt } from '../../agent/context/default-prompt.ts';
import type { RunLoop } from '../../agent/loop/run-loop.ts';
import type { SeeingModelPort } from '../../agent/models/create-model-port.ts';
import { loadProvider } from '../../agent/models/load-provider.ts';
import type { TierModels } from '../../agent/models/tier-models.ts';
import type { AgentSessions } from '../../agent/sessions/agent-sessions.ts';
import { createAgentSessions } from '../../agent/sessions/agent-sessions.ts';
import { createSkillSummaries } from '../../agent/summarize-skill.ts';
import { newId } from '../../kernel/ids.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { ConversationLog } from '../../memory/conversation-log.ts';
import { createConversationLog } from '../../memory/conversation-log.ts';
import { skillTools } from '../../memory/skill-tools.ts';
import type { Skills } from '../../memory/skills.ts';
import { createSkills } from '../../memory/skills.ts';
import type { Plugin, PluginHost, ServiceKey } from '../../plugin/plugin.ts';
import type { CallContext } from '../../tool/context.ts';
import type { Notify } from '../../tool/ports.ts';
import { createVolume } from '../../volume/volume.ts';
import type { LoopConfig, ModelsConfig } from '../config/models-config.ts';
import type { McpServers } from './mcp.ts';

/** The agent of a Gantry, for plugins and surfaces. */
export interface AgentService {
  readonly models: TierModels;
  readonly sessions: AgentSessions;
  readonly conversations: ConversationLog;
  readonly skills: Skills;
  /** The loop itself, for runs that are no conversation. Loaded with the first. */
  readonly runLoop: RunLoop;
}

/** Under this key the plugin provides {@link AgentService}. */
export const agentKey: ServiceKey<AgentService> = { name: 'agent' };

/** What the agent is made of. */
export interface AgentOptions {
  readonly models: TierModels;
  readonly model: SeeingModelPort;
  readonly modelSettings: Pick<ModelsConfig, 'callTimeoutMs' | 'maxRetries' | 'tierThresholds'>;
  readonly loop: LoopConfig;
  /** The MCP servers, once they are set up; undefined where there are none. */
  readonly servers?: ((host: PluginHost) => Pick<McpServers, 'summaries' | 'orientation'> | undefined) | undefined;
  /** IANA name of the zone that dates are told in; default the machine's. */
  readonly timeZone?: ((host: PluginHost) => Promise<string>) | undefined;
  /** Finds services that fit what was asked. */
  readonly hints?: ServiceHints | undefined;
  /** Told of late results of what is no conversation. */
  readonly notifyOther?: Notify | undefined;
  /** Called when the agent is set up, before anything can ask for it. */
  readonly onReady?: ((service: AgentService) => void) | undefined;
}

const sweepEveryMs = 6 * 3_600_000;

/** The agent: conversations, skills, and the loop that drives the tools with a model. Without a model it only keeps what there is. */
export const agent = (options: AgentOptions): Plugin => ({
  name: 'agent',
  setup: (host) => {
    const { store, clock, log, tools, memory, stopping } = host;
    const { models, model, modelSettings, loop } = options;
    const servers = () => options.servers?.(host);
    const conversations = createConversationLog({
      store,
      clock,
      maxTurns: loop.maxConversationTurns,
      keptDays: loop.conversationDays,
    });
    const skills = createSkills({
      documents: store.documents('skills'),
      clock,
      servers: () => servers()?.summaries() ?? [],
    });
    const summarize = models.isConfigured ? createSkillSummaries({ model, skills, log, signal: stopping }) : undefined;
    for (const tool of skillTools(skills, { clock, summarize })) tools.register(tool.registration, tool.executor);
    const analyze = analyzeFileTool({
      models,
      model,
      volume: createVolume(host.sharedDir),
      maxBytes: loop.analyzeFileMaxBytes,
      types: loop.analyzeFileMimeTypes,
    });
    if (analyze) tools.register(analyze.registration, analyze.executor);

    const runLoop = lazyLoop(host, options, (context) => servers()?.orientation(context));
    const sessions = createAgentSessions({
      models,
      runLoop,
      conversations,
      systemPrompt: loop.systemPrompt ?? defaultSystemPrompt,
      context: {
        clock,
        log,
        memory,
        skills: skills.list,
        hints: options.hints,
        timeZone: () => options.timeZone?.(host) ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
      },
      thresholds: modelSettings.tierThresholds,
      maxContextTurns: loop.maxContextTurns,
      persistErrorTurns: loop.persistErrorTurns,
      notifyOther: options.notifyOther,
      clock,
      log,
    });
    const service: AgentService = { models, sessions, conversations, skills, runLoop };
    host.provide(agentKey, service);
    options.onReady?.(service);

    const sweep = (): void => {
      conversations
        .sweep()
        .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'old conversations could not be freed'));
      timer = clock.startTimer(sweepEveryMs, sweep);
    };
    let timer = clock.startTimer(sweepEveryMs, sweep);
    host.onStop(async () => {
      timer.stop();
      await sessions[Symbol.asyncDispose]();
    });
  },
});

/** The loop, whose libraries are loaded with the first run. */
const lazyLoop = (
  { callable, invoker, memory, clock, log }: PluginHost,
  { models, modelSettings, loop }: AgentOptions,
  orientation: (context: CallContext) => string | undefined,
): RunLoop => {
  let loading: Promise<RunLoop> | undefined;
  const load = async (): Promise<RunLoop> => {
    const { createRunLoop } = await loadProvider('ai', () => import('../../agent/loop/run-loop.ts'));
    // What the SDK notices about requests is for the log; it would write it to the console.
    globalThis.AI_SDK_LOG_WARNINGS ??= ({ warnings, provider, model }) =>
      log.debug({ provider, model, warnings }, 'the model library notes');
    return createRunLoop({
      models,
      toolsets: callable,
      invoker,
      stash: memory.stash,
      orientation,
      limits: {
        maxToolIterations: loop.maxToolIterations,
        maxConsecutiveToolErrors: loop.maxConsecutiveToolErrors,
        callTimeoutMs: modelSettings.callTimeoutMs,
        maxRetries: modelSettings.maxRetries,
      },
      clock,
      newId,
      log,
    });
  };
  return async (run) => {
    loading ??= load();
    try {
      return await (
        await loading
      )(run);
    } catch (error) {
      // A package may be installed meanwhile; a loop that was loaded stays.
      await loading.catch(() => (loading = undefined));
      throw error;
    }
  };
};
