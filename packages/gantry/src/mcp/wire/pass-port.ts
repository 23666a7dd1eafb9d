import type { JsonObject } from '../../kernel/json.ts';
import type { Exchange } from './sessions/exchange.ts';
import type { OlderSession } from './sessions/older-session.ts';
import type { LeasedSession, SessionUse } from './sessions/older-sessions.ts';

/** A server that a client is passed through to, as the face reaches it. */
export interface PassTarget {
  readonly name: string;
  /** Another one when the server is another, or is reached in another way. */
  readonly identity: string;
  /** Which protocol the bridge itself found the server to speak; `modern` servers often speak the older one too. */
  readonly era: 'modern' | 'legacy';
  /** Whether messages can be sent on as they are: the server has a Streamable HTTP address. */
  readonly isHttp: boolean;
  /** The bridge's own connection, for clients whose messages have to be said in the other generation. */
  readonly link: PassLink;
  /**
   * Sends one HTTP request to the server, with what its entry gives it (headers, token). Never follows a redirect.
   * @throws {GantryError} `server_unreachable`, `response_too_large`, or the signal's reason.
   */
  send(request: {
    readonly method: 'POST' | 'GET' | 'DELETE';
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | undefined;
    /** False where the sender bounds the time of the answer itself. Default true. */
    readonly isTimed?: boolean | undefined;
    readonly signal: AbortSignal;
  }): Promise<Response>;
  /**
   * Runs the server's program once more, or connects to it once more over SSE, for one client alone; undefined over Streamable HTTP, where
   * clients have sessions of their own.
   * @throws {GantryError} `server_unreachable`, or the signal's reason.
   */
  readonly startProgram?: ((hears: ProgramListener, signal: AbortSignal) => Promise<OwnProgram>) | undefined;
  /**
   * A session for one client with a server of 2025: over HTTP one that is this use's alone, with a program that of the copy which runs for
   * the client.
   * @throws {GantryError} what opening it throws; `limit_reached` when the client has too many.
   */
  leaseSession(use: SessionUse, signal: AbortSignal): Promise<LeasedSession>;
  /**
   * The session with a server of 2025 that all clients share, which is kept until it is given back: for those who are not asked anything. It
   * hears of changes, and can be told to tell of more.
   * @throws {GantryError} `server_unreachable`, `limit_reached` for a client that does so too often.
   */
  leaseShared(
    client: string | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly session: SharedSession; giveBack(): void }>;
  /** Ends the program that runs for a session of a client, if one does. */
  endSession(session: string): void;
  /** Whether the entry's filters let a tool through. */
  isAllowed(tool: string): boolean;
  /** Whether the entry has filters at all; without them lists need not be read. */
  readonly hasFilters: boolean;
  /** Whether a prompt may be had; entries have no filters for them. */
  isPromptAllowed(prompt: string): boolean;
  /** Whether some prompts may not be had; without that neither lists nor requests for them need be read. */
  readonly hidesPrompts: boolean;
  /** Whether the server listed a tool of that name when it was connected; names in metrics are bounded by it. */
  isKnown(tool: string): boolean;
  /** Whether a server of 2025 runs calls of the tool as tasks only (`execution.taskSupport` is `required`). */
  needsTask(tool: string): boolean;
  /** Whether the entry has guards at all; without them arguments concern nobody here. */
  readonly hasGuards: boolean;
  /** Why the entry's guards stop a call; undefined when nothing does. */
  rejectionOf(tool: string, args: JsonObject): Promise<string | undefined>;
  /** Whether a question of the server is declined whoever is asked: it wants a credential, or a field that the operator denies. */
  isDeclined(params: unknown): boolean;
  /** The headers that a call of a tool has beside its arguments (`x-mcp-header`, MCP 2026-07-28). */
  parameterHeaders(tool: string, args: JsonObject): Readonly<Record<string, string>>;
  /** How long the server may be silent in the middle of a request, milliseconds. */
  readonly callTimeoutMs: number;
  /** How long a request may take altogether, but for the time in which the client answers questions. */
  readonly maxCallTimeoutMs: number;
  /** Hides what is secret about the server in a text that is shown. */
  readonly mask: (text: string) => string;
}

/** Hears a program. */
export interface ProgramListener {
  message(message: unknown): void;
  /** It has ended; nothing more is heard of it. */
  ended(): void;
}

/** A program that speaks JSON-RPC. Disposing ends it, and all that it started. */
export interface OwnProgram extends AsyncDisposable {
  /** @throws {GantryError} `server_unreachable` when it has ended. */
  send(message: JsonObject): Promise<void>;
}

/** A session that many use. */
export type SharedSession = Pick<OlderSession, 'capabilities' | 'request' | 'listen'>;

/** One request at a time over the connection that the bridge holds. */
export interface PassLink {
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /**
   * The result as the server wrote it.
   * @throws {GantryError} `execution_failed` with `details.rpc` (`{ code, message, data? }`) for an error of the server's own;
   * `server_unreachable`, or the signal's reason.
   */
  request(
    method: string,
    params: JsonObject,
    options: { readonly signal: AbortSignal; readonly onProgress?: ((progress: JsonObject) => void) | undefined },
  ): Promise<unknown>;
  /**
   * Starts a request on the channel that all clients share, with the notices that belong to it; undefined where each request has a channel of
   * its own (Streamable HTTP). Its time is the caller's to bound. One that listens (`subscriptions/listen`) keeps a program running, and ends
   * with a result when the server is to be connected anew.
   */
  readonly startExchange?: ((request: ChannelRequest) => Exchange) | undefined;
}

/** A request in the server's own words, as it is sent. */
export interface ChannelRequest {
  /** Nobody else's. */
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly client: string | undefined;
  /**
   * Who may hear what the server says because of it; undefined where that is nothing. Default undefined.
   */
  readonly owner?: unknown;
  /** Whether messages of the log are wanted: they are heard as long as nobody but this owner has used the connection. */
  readonly wantsLog?: boolean | undefined;
}

/** A server that is held open until this is disposed. */
export interface OpenedPass extends Disposable {
  readonly target: PassTarget;
}

/**
 * Finds the server of that name, in any case, and reaches it.
 * @throws {GantryError} `server_unknown`, `server_unreachable`, `auth_required`, `config_invalid`.
 */
export type OpenPass = (server: string, signal: AbortSignal) => Promise<OpenedPass>;
