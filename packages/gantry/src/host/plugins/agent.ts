import { join } from 'node:path';
import { analyzeFileTool } from '../../agent/analyze-file.ts';
import { createReadMedia, mostTurnBytes } from '../../agent/read-media.ts';
import { viewFileTool } from '../../agent/view-file.ts';
import type { ServiceHints } from '../../agent/context/build-context.ts';
import { defaultSystemPrompt } from '../../agent/context/default-prompt.ts';
import type { LoopDeps } from '../../agent/loop/loop-run.ts';
import type { RunLoop } from '../../agent/loop/run-loop.ts';
import type { SeeingModelPort } from '../../agent/models/create-model-port.ts';
import { lazyModelPort } from '../../agent/models/lazy-model-port.ts';
import { loadProvider } from '../../agent/models/load-provider.ts';
import type { ModelBehaviors } from '../../agent/models/model-behavior.ts';
import type { ModelsSettings } from '../../agent/models/model-settings.ts';
import type { TierModels } from '../../agent/models/tier-models.ts';
import { createTierSelectorFile } from '../../agent/models/tier-selector-file.ts';
import { createTierModels } from '../../agent/models/tier-models.ts';
import type { AgentSessions } from '../../agent/sessions/agent-sessions.ts';
import { createAgentSessions } from '../../agent/sessions/agent-sessions.ts';
import { createLetGo } from '../../agent/sessions/let-go.ts';
import { serveUserMessages } from '../../agent/sessions/serve-user-messages.ts';
import { taskIdOf } from '../../agent/subagents/subagent-record.ts';
import { createSkillSummaries } from '../../agent/summarize-skill.ts';
import { newId } from '../../kernel/ids.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { ConversationLog } from '../../memory/conversation-log.ts';
import { createConversationLog } from '../../memory/conversation-log.ts';
import { skillTools } from '../../memory/skill-tools.ts';
import type { Skills } from '../../memory/skills.ts';
import { createSkills } from '../../memory/skills.ts';
import type { Plugin, PluginHost, ServiceKey } from '../../plugin/plugin.ts';
import type { Notify } from '../../tool/ports.ts';
import { createVolume } from '../../volume/volume.ts';
import type { LoopConfig, ModelsConfig } from '../config/models-config.ts';
import { loopConfig, modelsConfig } from '../config/models-config.ts';
import { addDelegation } from './add-delegation.ts';
import { addServices } from './add-services.ts';

import type { McpServers } from './mcp.ts';
import { runHoldings } from './run-holdings.ts';

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

/** What the agent asks of the MCP servers. Its subagents leave `tasks` and `questions` open there, and pipelines call `toolsOf` them. */
export type AgentServers = Pick<McpServers, 'summaries' | 'orientation'> &
  Partial<Pick<McpServers, 'tasks' | 'questions' | 'toolsOf'>>;

/** What the agent is made of; everything has a default. Without a model it only keeps what there is. */
export interface AgentOptions {
  /** The models by tier. */
  readonly models?: ModelsSettings | undefined;
  /** What differs by model, by case-insensitive prefix of its id. */
  readonly behaviors?: ModelBehaviors | undefined;
  /** How the agent works: section `loop` of the configuration. */
  readonly loop?: Partial<LoopConfig> | undefined;
  /** For keys that the settings do not hold; default the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** In place of `models`, where they exist already. */
  readonly tierModels?: TierModels | undefined;
  /** In place of the port that is made over the models. */
  readonly model?: SeeingModelPort | undefined;
  /** The MCP servers, once they are set up; undefined where there are none. */
  readonly servers?: ((host: PluginHost) => AgentServers | undefined) | undefined;
  /** IANA name of the zone that dates are told in; default the machine's. */
  readonly timeZone?: ((host: PluginHost) => Promise<string>) | undefined;
  /** Finds services that fit what was asked; default those of `servers`. */
  readonly hints?: ServiceHints | undefined;
  /** Told of late results of what is no conversation. */
  readonly notifyOther?: Notify | undefined;
  /** Called when the agent is set up, before anything can ask for it. */
  readonly onReady?: ((service: AgentService) => void) | undefined;
}

const sweepEveryMs = 6 * 3_600_000;

/**
 * The agent: conversations, skills, and the loop that drives the tools with a model.
 *
 * @example createGantry().use(agent({ models: { balanced: { provider: 'openai-compatible', endpoint: 'http://127.0.0.1:11434/v1', modelId: 'qwen3' } } }))
 */
export const agent = (options: AgentOptions = {}): Plugin => ({
  name: 'agent',
  setup: (host) => {
    const { store, clock, log, tools, memory, stopping } = host;
    const settings: ModelsConfig = modelsConfig.parse(options.models ?? {});
    const loop: LoopConfig = loopConfig.parse(options.loop ?? {});
    const models =
      options.tierModels ??
      createTierModels({ models: settings, behaviors: options.behaviors, env: options.env ?? process.env });
    const { callTimeoutMs, maxRetries } = settings;
    const tierThresholds = createTierSelectorFile({
      path: join(host.dataDir, 'tier-selector.json'),
      configured: settings.tierThresholds,
      clock,
      log,
    });
    const model = options.model ?? lazyModelPort({ models, clock, callTimeoutMs, maxRetries });
    const { maxToolIterations, maxConsecutiveToolErrors } = loop;
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
    const volume = createVolume(host.sharedDir);
    const { analyzeFileMaxBytes, analyzeFileMimeTypes: types } = loop;
    for (const tool of [
      analyzeFileTool({ models, model, volume, maxBytes: analyzeFileMaxBytes, types }),
      viewFileTool({ models, volume, maxBytes: Math.min(analyzeFileMaxBytes, mostTurnBytes), types }),
    ])
      if (tool) tools.register(tool.registration, tool.executor);

    const hints = addServices(host, servers);

    const runLoop = lazyLoop(host, {
      models,
      limits: {
        maxToolIterations,
        maxConsecutiveToolErrors,
        callTimeoutMs,
        maxRetries,
        retriesFiltered: loop.retryFiltered,
      },
      judge: {
        complete: model.complete,
        completionTries: loop.completionTries,
        followsUp: loop.followUp,
        guardsActions: loop.guardActions,
      },
      readMedia: createReadMedia({ volume, stash: host.media }),
      orientation: (context) => servers()?.orientation(context),
    });
    const timeZone = async (): Promise<string> =>
      (await options.timeZone?.(host)) ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
    // Without a model nothing can be handed over.
    const subagents = models.isConfigured
      ? addDelegation(host, {
          models,
          model,
          runLoop,
          conversations,
          servers,
          timeZone,
          thresholds: tierThresholds,
          loop,
          notify: (notice) => sessions.notify(notice),
        })
      : undefined;
    const notifyOther: Notify = async (notice) => {
      if (subagents && taskIdOf(notice.namespace) !== undefined) await subagents.notify(notice);
      else if (options.notifyOther) await options.notifyOther(notice);
      else
        log.warn(
          { namespace: notice.namespace, kind: notice.kind },
          'a result came late for a run that is over; it is kept in working memory',
        );
    };
    const sessions = createAgentSessions({
      models,
      runLoop,
      conversations,
      store,
      systemPrompt: loop.systemPrompt ?? defaultSystemPrompt,
      context: {
        clock,
        log,
        memory,
        skills: skills.list,
        recalledSkills: loop.recalledSkills,
        sessionStart: loop.sessionStart,
        hints: options.hints ?? (loop.serviceHints ? hints : undefined),
        timeZone,
      },
      thresholds: tierThresholds,
      maxContextTurns: loop.maxContextTurns,
      persistErrorTurns: loop.persistErrorTurns,
      notifyOther,
      letGo: createLetGo({ memory, subagents, holdings: runHoldings(servers), log }),
      clock,
      log,
    });
    const service: AgentService = { models, sessions, conversations, skills, runLoop };
    host.provide(agentKey, service);
    options.onReady?.(service);

    // A message that cannot be answered would be lost; without a model it waits for a process that has one.
    if (models.isConfigured)
      host.onStart(async () => {
        const serving = await serveUserMessages({ bus: host.bus, sessions, agent: host.agent, clock, log, stopping });
        host.onStop(() => serving[Symbol.asyncDispose]());
        await subagents?.start();
      });

    const sweep = (): void => {
      conversations
        .sweep()
        .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'old conversations could not be freed'));
      timer = clock.startTimer(sweepEveryMs, sweep);
    };
    let timer = clock.startTimer(sweepEveryMs, sweep);
    host.onStop(async () => {
      timer.stop();
      // First those who have something to tell, then those who are told.
      await subagents?.[Symbol.asyncDispose]();
      await sessions[Symbol.asyncDispose]();
    });
  },
});

/** The loop, whose libraries are loaded with the first run. */
const lazyLoop = (
  { callable, invoker, memory, clock, log }: PluginHost,
  given: Pick<LoopDeps, 'models' | 'limits' | 'judge' | 'readMedia' | 'orientation'>,
): RunLoop => {
  let loading: Promise<RunLoop> | undefined;
  const load = async (): Promise<RunLoop> => {
    const { createRunLoop } = await loadProvider('ai', () => import('../../agent/loop/run-loop.ts'));
    // What the SDK notices about requests is for the log; it would write it to the console.
    globalThis.AI_SDK_LOG_WARNINGS ??= ({ warnings, provider, model }) =>
      log.debug({ provider, model, warnings }, 'the model library notes');
    return createRunLoop({ ...given, toolsets: callable, invoker, stash: memory.stash, clock, newId, log });
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
