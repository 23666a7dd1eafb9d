import { systemClock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { deepFreeze } from '../kernel/json.ts';

/** One message: what it is, where it comes from, and its body. Frozen at every depth, so subscribers may share it. */
export interface Envelope {
  /** Unique, 32 hex digits. */
  readonly messageId: string;
  /** Names the shape of `body`; receivers choose by it how to read the body, never by looking at its members. */
  readonly messageType: string;
  /** The agent or role that sent the message. */
  readonly source: string;
  /** When it was made, epoch milliseconds. */
  readonly timestampMs: number;
  /** A JSON value (bytes are allowed where both ends know it). Encoding belongs to bus adapters. */
  readonly body: unknown;
  /** Ties a reply, progress or cancellation to its request. */
  readonly correlationId: string | undefined;
  /** The topic on which the sender waits for an answer. */
  readonly replyTo: string | undefined;
  /** The one receiver meant; absent = everybody who subscribes. */
  readonly destination: string | undefined;
  /** Everything that travels beside the body, see `headers.ts`. */
  readonly headers: Headers;
}

/** Header names and values; names of our own are in `headers.ts`. */
export type Headers = Readonly<Record<string, string>>;

/** What a new envelope is made of. `messageId` and `timestampMs` are given only by adapters that decode a message. */
export interface EnvelopeFields {
  readonly messageType: string;
  readonly source: string;
  readonly body: unknown;
  readonly correlationId?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly destination?: string | undefined;
  readonly headers?: Headers | undefined;
  readonly messageId?: string | undefined;
  readonly timestampMs?: number | undefined;
}

const noHeaders: Headers = Object.freeze({});

/** Makes an envelope with a new id and the current time. The body becomes the envelope's: it is frozen in place, not copied. */
export const createEnvelope = (fields: EnvelopeFields): Envelope =>
  Object.freeze({
    messageId: fields.messageId ?? newId(),
    messageType: fields.messageType,
    source: fields.source,
    timestampMs: fields.timestampMs ?? systemClock.nowMs(),
    body: deepFreeze(fields.body),
    correlationId: fields.correlationId,
    replyTo: fields.replyTo,
    destination: fields.destination,
    headers: fields.headers === undefined ? noHeaders : Object.freeze({ ...fields.headers }),
  });

/** The same message with more headers; those given replace equal ones. */
export const withHeaders = (envelope: Envelope, headers: Headers): Envelope =>
  Object.freeze({ ...envelope, headers: Object.freeze({ ...envelope.headers, ...headers }) });
