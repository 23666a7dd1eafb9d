import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { OpaqueIds } from './opaque-ids.ts';

/**
 * Who calls: a `model` (loop, wisp, subagent, schedule), a `client` of the whole tool layer over MCP, a client of one
 * server passed through (`passthrough`), or an `operator` (HTTP API, command line, library). {@link callerRules} says what that means.
 */
export type CallerKind = 'model' | 'client' | 'passthrough' | 'operator';

/** What happens to a call and its result, by caller. */
export interface CallerRules {
  /** Arguments are repaired and checked against the tool's schema before it runs. */
  readonly argumentsChecked: boolean;
  /** Paths of files in the shared folder stand for attachments, in arguments and in results. */
  readonly pathsForAttachments: boolean | 'if-shared';
  /** Images, sounds and blobs are written to the shared folder and replaced by their path. */
  readonly binaryCaptured: boolean | 'if-shared';
  /** An over-long result is split and stashed, and an index is returned. */
  readonly resultChunked: boolean;
}

/** The table of the callers; the one place where a caller's kind decides anything about a result. */
export const callerRules: Readonly<Record<CallerKind, CallerRules>> = {
  model: { argumentsChecked: true, pathsForAttachments: true, binaryCaptured: true, resultChunked: true },
  client: {
    argumentsChecked: true,
    pathsForAttachments: 'if-shared',
    binaryCaptured: 'if-shared',
    resultChunked: true,
  },
  passthrough: {
    argumentsChecked: false,
    pathsForAttachments: 'if-shared',
    binaryCaptured: false,
    resultChunked: false,
  },
  operator: { argumentsChecked: true, pathsForAttachments: true, binaryCaptured: true, resultChunked: false },
};

/**
 * The rules of a kind of caller.
 * @throws {GantryError} `usage` for a kind that does not exist, which only code without types can name.
 */
export const rulesOf = (caller: CallerKind): CallerRules => {
  if (Object.hasOwn(callerRules, caller)) return callerRules[caller];
  const known = Object.keys(callerRules);
  throw new GantryError('usage', `There is no caller "${caller}"; known: ${known.join(', ')}.`, {
    details: { known },
  });
};

/** W3C trace context of the caller. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** Progress of a running call, as MCP reports it. */
export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** What an MCP client can be asked for in the middle of its call, in the words of MCP's client capabilities. */
export interface Asks {
  readonly elicitation?: JsonObject | undefined;
  readonly sampling?: JsonObject | undefined;
  readonly roots?: JsonObject | undefined;
}

/** What a server asks a client: the method and parameters of one of MCP's requests to clients. */
export interface PeerQuestion {
  readonly method: string;
  readonly params: JsonObject;
}

/**
 * Asks whoever made a call; gives the result of the method. Throws what the client answered as an error, or that it is gone; the signal
 * aborts when nobody waits for the answer any more.
 */
export type OnAsked = (question: PeerQuestion, signal: AbortSignal) => Promise<JsonObject>;

/** Which model a turn runs on. */
export type Tier = 'low' | 'balanced' | 'high';

/**
 * How the tools of servers are offered: none; all; those that were found, opened or called; these and all tools of the servers that were
 * called. `auto` is eager while few can be seen, else pinned.
 */
export type WrapperMode = 'auto' | 'off' | 'eager' | 'lazy' | 'pinned';

/** The model that a turn runs on, as far as tools depend on it. */
export interface ModelFacts {
  /** Vendor key, lower-case. */
  readonly provider: string;
  readonly id?: string | undefined;
  /** Capability flags; one that is not named is false. */
  readonly capabilities?: Readonly<Record<string, boolean>> | undefined;
}

/**
 * What a platform lets the agent do in one place, by the platform's own names (`SEND_MESSAGES`, `USE_EXTERNAL_STICKERS` …), as the surface
 * read it; `unreadable` where it has a permission model and could not be asked.
 */
export type PlatformPermissions =
  | 'unreadable'
  | { readonly granted: readonly string[]; /** A thread of a channel. */ readonly isThread: boolean };

/**
 * Everything policy may look at. An argument of every call; no ambient state decides anything. All but the signal,
 * the progress listener and what belongs to one process travels in envelope headers.
 */
export interface CallContext {
  readonly caller: CallerKind;
  /** Working-memory namespace of the run: `session/{id}`, `subagent/{id}`, … */
  readonly namespace?: string | undefined;
  readonly workspace?: string | undefined;
  /** Identity of the MCP client, where it has one. */
  readonly client?: string | undefined;
  /** The connection of an MCP client, where its protocol has one. */
  readonly connection?: string | undefined;
  /** How this caller wants the tools of servers to be listed; default what the configuration says of its tier. Stays in this process. */
  readonly wrapperMode?: WrapperMode | undefined;
  /**
   * The tools that the run was given by name: no server takes the place of one of them, which may do more than the run was meant to. Stays in
   * this process.
   */
  readonly namedTools?: ReadonlySet<string> | undefined;
  readonly tier?: Tier | undefined;
  /** The turn's model. */
  readonly model?: ModelFacts | undefined;
  /** Feature flags that are on. */
  readonly features?: ReadonlySet<string> | undefined;
  /** Short ids that the turn's model was given for files and messages. Stays in this process. */
  readonly ids?: OpaqueIds | undefined;
  /** What the surface's platform lets the agent do where it was spoken to; absent where the surface has no permission model. */
  readonly permissions?: PlatformPermissions | undefined;
  /** The caller reads and writes the shared folder too, so paths mean something to it. */
  readonly sharesFolder?: boolean | undefined;
  /** Long results are given whole, whatever the caller's kind says. Stays in this process. */
  readonly wholeResults?: boolean | undefined;
  /** The caller puts the context items of outcomes before its model. Stays in this process. */
  readonly takesContextItems?: boolean | undefined;
  /** The caller can answer a server's question. */
  readonly answersQuestions?: boolean | undefined;
  /** What the MCP client that calls can be asked for; only together with `onAsked`. */
  readonly asks?: Asks | undefined;
  /** A result that comes after the call returned still reaches the caller. */
  readonly receivesLateResults?: boolean | undefined;
  /** How long the call may take; default the tool's own limit. */
  readonly timeoutMs?: number | undefined;
  readonly trace?: TraceContext | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Asks the MCP client that calls. Stays in this process. */
  readonly onAsked?: OnAsked | undefined;
}
