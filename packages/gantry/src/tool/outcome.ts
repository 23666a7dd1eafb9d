import type { RetryHint } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';

/** Plain text. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}
/** An image or a sound: base64 text and its MIME type. */
export interface MediaPart {
  readonly type: 'image' | 'audio';
  readonly data: string;
  readonly mimeType: string;
}
/** A pointer to something that can be read on the same server; never fetched by itself. */
export interface ResourceLinkPart {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string | undefined;
  readonly description?: string | undefined;
  readonly size?: number | undefined;
}
/** The contents of a resource, as text or as base64. */
export interface ResourcePart {
  readonly type: 'resource';
  readonly resource: {
    readonly uri: string;
    readonly mimeType?: string | undefined;
    readonly text?: string | undefined;
    readonly blob?: string | undefined;
  };
}

/**
 * One piece of a result. Parts have the shape of MCP content blocks, so members that Gantry does not know (annotations,
 * `_meta`) stay on the object and reach an MCP client untouched.
 */
export type Part = TextPart | MediaPart | ResourceLinkPart | ResourcePart;

/** A file that a call left in the shared folder; what a model gets instead of bytes. */
export interface Attachment {
  /** Path as other tools take it. */
  readonly path: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly mime: string;
}

/** The five codes a model or a wire peer can see. */
export type FailureCode = 'tool_not_found' | 'invalid_arguments' | 'timeout' | 'execution_failed' | 'auth_required';

/** Why a call failed, fit for a model to read. */
export interface Failure {
  readonly code: FailureCode;
  /** What was wrong, what is allowed, what to do; no stack, no secret. */
  readonly message: string;
  readonly retry: RetryHint;
  /** What the tool itself reported as its error result, when it ran and said so. Absent when the call never got that far. */
  readonly reported?: ToolReport | undefined;
}

/** What a tool gives back: parts for the reader, a structured value for programs. */
export interface ToolReport {
  readonly parts: readonly Part[];
  readonly structured?: Json | undefined;
  /** The `_meta` of an MCP result, without keys that belong to one hop. */
  readonly meta?: JsonObject | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
}

/** What a parked call waits for: an answer to a question, or a background task. The result comes later. */
export interface Handle {
  readonly kind: 'question' | 'task';
  readonly id: string;
  /** ISO time. */
  readonly expiresAt: string;
}

/** A picture by where its bytes are: a file of the shared folder, or the media stash of this process. */
export type ContextMedia = {
  /** MIME type, such as `image/png`. */
  readonly mediaType: string;
} & ({ readonly path: string } | { readonly stashKey: string });

/** Something that a model is to look at itself. Names its media and never holds their bytes, because outcomes are kept. */
export interface ContextItem {
  /** What it is, in words for the model; later turns read its beginning, on one line, in place of the whole. */
  readonly text: string;
  readonly media: readonly ContextMedia[];
}

/** How a call ended. */
export type Outcome =
  | ({
      readonly status: 'done';
      /**
       * The agent's turn is over with this call: its model is not asked again. The user is given what the model wrote beside the call, else
       * the text of this result. Default false. Of no effect from tools of MCP servers, and outside of turns.
       */
      readonly endTurn?: boolean | undefined;
      /**
       * Is put before the agent's model as a message, in place of the call and its result, and the model is asked again; for the rest of the
       * turn it does not have the tool. Only for callers that say `takesContextItems`; others get the parts. Of no effect from tools of MCP servers.
       */
      readonly contextItem?: ContextItem | undefined;
    } & ToolReport)
  | { readonly status: 'failed'; readonly failure: Failure }
  | { readonly status: 'parked'; readonly handle: Handle; readonly parts: readonly Part[] };

/** A done outcome of one text. */
export const textOutcome = (text: string): Outcome => ({ status: 'done', parts: [{ type: 'text', text }] });

/** A failed outcome that never got as far as a result. */
export const failedOutcome = (code: FailureCode, message: string, retry: RetryHint = 'never'): Outcome => ({
  status: 'failed',
  failure: { code, message, retry },
});
