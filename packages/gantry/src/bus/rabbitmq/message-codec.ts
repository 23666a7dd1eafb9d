import { GantryError, messageOf } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import { createEnvelope, type Envelope } from '../envelope.ts';
import { messageHeaders } from '../headers.ts';
import type { BrokerEnvelope, BrokerMessage } from './broker-link.ts';

/** A message ready for the broker but for its destination. */
export interface EncodedMessage {
  readonly properties: Omit<BrokerEnvelope, 'exchange' | 'routingKey'>;
  readonly body: Buffer;
}

/** What the adapter has to know about a message beside its envelope. */
export interface MessageNote {
  /** The topic it was published to, where the way to the queue does not tell. */
  readonly topic?: string | undefined;
  /** How often handlers asked for it again. */
  readonly attempts?: number | undefined;
  /** How often it came back because somebody who had it went away without a word. */
  readonly losses?: number | undefined;
  /** The sender could not know whether the broker had it, and sent it once more. */
  readonly isResent?: boolean | undefined;
}

/** A message read, with what the adapter keeps beside it. */
export interface DecodedMessage extends MessageNote {
  readonly envelope: Envelope;
  readonly topic: string;
  readonly attempts: number;
  readonly losses: number;
}

/** Names in the table of headers that hold the rest of an envelope, and what the adapter adds. */
const own = {
  source: 'gantry-source',
  destination: 'gantry-destination',
  timestampMs: 'gantry-timestamp-ms',
  topic: 'gantry-topic',
  attempts: 'gantry-attempts',
  losses: 'gantry-losses',
  resent: 'gantry-resent',
} as const;
const reserved: ReadonlySet<string> = new Set(Object.values(own));

// Headers of envelopes that are neither ours nor a standard's get a prefix, so that they never meet those of brokers ("x-death").
const foreignPrefix = 'gantry-x-';
const plainNames: ReadonlySet<string> = new Set([messageHeaders.traceparent, messageHeaders.tracestate]);

/** Of ids, topics and names in AMQP, bytes. */
const longestName = 255;

/**
 * Encodes an envelope: the body as JSON; id, type, correlation id and reply topic as the properties AMQP has for them; everything else
 * in the table of headers, under names that begin with `gantry-`.
 *
 * @throws {GantryError} `message_invalid` when the body is no JSON value, or anything is too long.
 */
export const encodeMessage = (
  envelope: Envelope,
  options: { readonly maxBytes: number; readonly note?: MessageNote | undefined },
): EncodedMessage => {
  const { messageId, messageType, correlationId, replyTo, destination } = envelope;
  const { note = {}, maxBytes } = options;
  const body = toJson(envelope);
  if (body.byteLength > maxBytes)
    throw invalid(
      envelope,
      `has ${body.byteLength} bytes, and the bus takes ${maxBytes}; send less, or raise "bus": {"maxMessageBytes": …} and the limit of the broker`,
    );
  for (const text of [messageId, messageType, correlationId, replyTo, ...Object.keys(envelope.headers).map(toWireName)])
    if (text !== undefined && Buffer.byteLength(text) > longestName)
      throw invalid(envelope, `has an id, type, reply topic or name of a header of more than ${longestName} bytes`);
  const waitMs = envelope.headers[messageHeaders.timeoutMs];
  return {
    body,
    properties: {
      durable: true,
      contentType: 'application/json',
      messageId,
      type: messageType,
      ...(correlationId !== undefined && { correlationId }),
      ...(replyTo !== undefined && { replyTo }),
      timestamp: Math.floor(envelope.timestampMs / 1000),
      // Who waits no longer needs no answer.
      ...(waitMs !== undefined && /^[1-9]\d{0,8}$/.test(waitMs) && { expiration: waitMs }),
      headers: {
        ...Object.fromEntries(Object.entries(envelope.headers).map(([name, value]) => [toWireName(name), value])),
        [own.source]: envelope.source,
        [own.timestampMs]: String(envelope.timestampMs),
        ...(destination !== undefined && { [own.destination]: destination }),
        ...(note.topic !== undefined && { [own.topic]: note.topic }),
        ...(note.attempts !== undefined && { [own.attempts]: String(note.attempts) }),
        ...(note.losses !== undefined && { [own.losses]: String(note.losses) }),
        ...(note.isResent === true && { [own.resent]: 'true' }),
      },
    },
  };
};

/**
 * Reads a message. Of one from another program only the type and the JSON body must be there.
 * @throws {GantryError} `message_invalid`; the message holds nothing of the body.
 */
export const decodeMessage = (message: BrokerMessage): DecodedMessage => {
  const { type, contentType, messageId, correlationId, replyTo, timestamp, routingKey } = message;
  if (type === undefined || type === '') throw garbled('it has no type');
  const headers = textsOf(message.headers ?? {});
  const timestampMs = Number(headers[own.timestampMs] ?? Number.NaN);
  return {
    topic: headers[own.topic] ?? routingKey,
    attempts: Number(headers[own.attempts] ?? 0) || 0,
    losses: Number(headers[own.losses] ?? 0) || 0,
    isResent: headers[own.resent] === 'true',
    envelope: createEnvelope({
      messageType: type,
      source: headers[own.source] ?? 'unknown',
      body: toBody(message.body, contentType),
      messageId,
      timestampMs: Number.isFinite(timestampMs) ? timestampMs : timestamp === undefined ? undefined : timestamp * 1000,
      correlationId,
      replyTo,
      destination: headers[own.destination],
      headers: Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) => {
          const given = reserved.has(name) ? undefined : fromWireName(name);
          return given === undefined ? [] : [[given, value] as const];
        }),
      ),
    }),
  };
};

const toWireName = (name: string): string =>
  plainNames.has(name) || (name.startsWith('gantry-') && !name.startsWith(foreignPrefix) && !reserved.has(name))
    ? name
    : `${foreignPrefix}${name}`;

const fromWireName = (name: string): string | undefined => {
  if (name.startsWith(foreignPrefix)) return name.slice(foreignPrefix.length);
  return plainNames.has(name) || name.startsWith('gantry-') ? name : undefined;
};

const textsOf = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

const toJson = (envelope: Envelope): Buffer => {
  try {
    // What JSON would silently turn into something else is a fault of the sender.
    const text = JSON.stringify(envelope.body ?? null, function (this: unknown, key, value: unknown) {
      const given: unknown = isObject(this) ? this[key] : value;
      if (ArrayBuffer.isView(given)) throw new TypeError('bytes cannot be sent as JSON');
      return value;
    });
    return Buffer.from(text);
  } catch (error) {
    throw invalid(envelope, `cannot be sent to another process: ${messageOf(error)}`, error);
  }
};

const toBody = (body: unknown, contentType: string | undefined): unknown => {
  if (contentType !== 'application/json') throw garbled('its body is not declared to be JSON');
  if (!Buffer.isBuffer(body)) return body;
  // The client gives the bytes where it could not parse them, or where an encoding is declared.
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch (error) {
    throw garbled('its body is not JSON', error);
  }
};

const invalid = ({ messageType }: Envelope, problem: string, cause?: unknown): GantryError =>
  new GantryError('message_invalid', `The message ${messageType} ${problem}.`, { details: { messageType }, cause });

const garbled = (problem: string, cause?: unknown): GantryError =>
  new GantryError('message_invalid', `A message cannot be read: ${problem}.`, { cause });
