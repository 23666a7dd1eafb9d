import type { ModelMessage } from 'ai';
import type { Invoker } from '../../invoke/invoker.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { NewId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { TurnStep, UserTurn } from '../../memory/conversation-turn.ts';
import type { CallableTools } from '../../tool/callable-tools.ts';
import type { CallContext, Tier } from '../../tool/context.ts';
import type { ModelPort } from '../../tool/model-port.ts';
import type { StashText } from '../../tool/ports.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import type { TierModels } from '../models/tier-models.ts';
import type { ReadMedia } from '../read-media.ts';
import type { OnLoopEvent } from './loop-events.ts';

/** Limits of every turn. */
export interface LoopLimits {
  /** Rounds of tool calls. */
  readonly maxToolIterations: number;
  /** Failed calls in a row after which the turn comes to its end. */
  readonly maxConsecutiveToolErrors: number;
  /** How long a model may send nothing; 0 = for ever. */
  readonly callTimeoutMs: number;
  /** How often the SDK sends a refused request again. */
  readonly maxRetries: number;
  /** An answer that the provider's content filter stopped is asked for once more, without what was said before the last message. Default false. */
  readonly retriesFiltered?: boolean | undefined;
}

/** What a small model is asked about turns of conversations. */
export interface JudgeSettings {
  /** Asks the small model one thing. */
  readonly complete: ModelPort['complete'];
  /** How often an answer that it finds incomplete leads to another try; 0: answers are not checked. */
  readonly completionTries: number;
  /** An answer that is complete may be followed by one further look, whose findings are put below it. Default false. */
  readonly followsUp?: boolean | undefined;
  /** Calls that write to the outside do not run while the user only shares information. */
  readonly guardsActions: boolean;
}

/** What every turn of an agent works with. */
export interface LoopDeps {
  readonly models: TierModels;
  readonly toolsets: CallableTools;
  readonly invoker: Invoker;
  readonly limits: LoopLimits;
  /** Absent: nothing is asked about turns. */
  readonly judge?: JudgeSettings | undefined;
  /** Keeps what had to be shortened to fit into the model's context. */
  readonly stash: StashText;
  /** Reads what tools put before the model. */
  readonly readMedia: ReadMedia;
  /** What a run with tools of servers is told right behind its system prompt. */
  readonly orientation: (context: CallContext) => string | undefined;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
}

/**
 * One run of the loop: a turn of a conversation, a scheduled run, a subagent's work. Everything that drives tools with a model comes
 * through here.
 */
export interface LoopRun {
  /** Working-memory namespace and session of the run: `session/{id}`, `subagent/{id}`, `patrol/{task}` … */
  readonly namespace: string;
  readonly workspace?: string | undefined;
  readonly tier: Tier;
  /** The run stays on its tier, whatever its calls do. Default false: from the low tier it moves up when it acts or fails. */
  readonly isTierPinned?: boolean | undefined;
  /** Which of the tools that the run may have it is shown; default all. */
  readonly tools?: ((registration: ToolRegistration) => boolean) | undefined;
  /**
   * The names of the only tools that it has. They are listed whatever the caller's mode of listing is, and nothing is said of how to find
   * more. Default: no such limit.
   */
  readonly scope?: readonly string[] | undefined;
  /** Who the model is and how it is to work. */
  readonly systemPrompt: string;
  /** Further system text, asked for before each request, such as the date. */
  readonly systemTail?: (() => string) | undefined;
  /** What was said before, and what is asked now; ends with the user's message. */
  readonly messages: readonly ModelMessage[];
  readonly maxToolIterations?: number | undefined;
  /** The turn of a conversation that it answers. Absent: the run is no such turn, so neither its answer nor its actions are judged. */
  readonly turn?: Pick<UserTurn, 'origin' | 'text'> | undefined;
  /** Further facts of the context of every call: what the caller is allowed, whose session it is. */
  readonly context?:
    | Partial<Pick<CallContext, 'features' | 'permissions' | 'ids' | 'receivesLateResults' | 'trace'>>
    | undefined;
  readonly signal: AbortSignal;
  readonly onEvent?: OnLoopEvent | undefined;
  /** Is awaited before calls run, and after each of them ended, so that no call and no result is lost in a crash. */
  readonly onSteps?: ((steps: readonly TurnStep[]) => Promise<void>) | undefined;
}

/** Tokens of a turn, as far as the providers told. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input, read from the provider's cache. */
  readonly cachedTokens: number;
}

/** How a run ended that was not aborted. */
export interface LoopResult {
  /** Never empty. */
  readonly text: string;
  readonly steps: readonly TurnStep[];
  /** What ended it: the model's answer, or a limit. */
  readonly endedBy: 'answer' | 'iterations' | 'errors' | 'timeouts';
  /** The model that gave the answer. */
  readonly tier: Tier;
  readonly model: string;
  readonly usage: TokenUsage;
}
