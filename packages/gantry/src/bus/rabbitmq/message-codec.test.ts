import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEnvelope, type Envelope, type EnvelopeFields } from '../envelope.ts';
import type { BrokerMessage } from './broker-link.ts';
import { decodeMessage, encodeMessage, type MessageNote } from './message-codec.ts';

const maxBytes = 1000;
const note = (more: Partial<EnvelopeFields> = {}) =>
  createEnvelope({ messageType: 'Note', source: 'test', body: {}, ...more });

/** What a broker makes of a message: the client parses JSON, and the broker adds headers of its own. */
const delivered = (fields: EnvelopeFields, more: MessageNote = {}): BrokerMessage => {
  const { properties, body } = encodeMessage(createEnvelope(fields), { maxBytes: 1e6, note: more });
  return {
    ...properties,
    deliveryTag: 1,
    redelivered: false,
    routingKey: 'note.made',
    headers: { ...properties.headers, 'x-death': [{ count: 1 }], 'x-delivery-count': 1 },
    body: JSON.parse(body.toString()) as unknown,
  };
};

describe('a message on its way through a broker', () => {
  it('keeps every field of its envelope', () => {
    const text = fc.string({ maxLength: 40 });
    const optional = fc.option(text, { nil: undefined });
    const fields = fc.record({
      messageType: fc.string({ minLength: 1, maxLength: 40 }),
      source: text,
      body: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown),
      correlationId: optional,
      replyTo: optional,
      destination: optional,
      timestampMs: fc.nat(),
      headers: fc.dictionary(
        fc.oneof(text, fc.constantFrom('traceparent', 'x-death', 'gantry-source', 'gantry-x-a', 'gantry-timeout-ms')),
        text,
      ),
    });
    fc.assert(
      fc.property(fields, (each) => {
        const envelope = createEnvelope({ ...each, messageId: 'm1' });
        expect(decodeMessage(delivered({ ...each, messageId: 'm1' })).envelope).toEqual(envelope);
      }),
    );
  });

  it('brings what the adapter noted, or where it came from', () => {
    expect(decodeMessage(delivered(note()))).toMatchObject({
      topic: 'note.made',
      attempts: 0,
      losses: 0,
      isResent: false,
    });
    const noted = { topic: 'other.topic', attempts: 2, losses: 3, isResent: true };
    expect(decodeMessage(delivered(note(), noted))).toMatchObject(noted);
  });

  it('waits no longer than whoever sent it', () => {
    const expirationOf = (waitMs: string): unknown =>
      encodeMessage(note({ headers: { 'gantry-timeout-ms': waitMs } }), { maxBytes }).properties.expiration;
    expect(['500', '0', '-1', 'soon', '1e9'].map(expirationOf)).toEqual(['500', ...Array(4).fill(undefined)]);
  });

  it('may come from another program that says no more than type and body', () => {
    const { envelope } = decodeMessage({
      deliveryTag: 1,
      redelivered: false,
      routingKey: 'a.b',
      contentType: 'application/json',
      type: 'Note',
      timestamp: 7,
      headers: { 'gantry-source': 5, other: 'x' },
      body: Buffer.from('{"a":1}'),
    });
    expect(envelope).toMatchObject({ messageType: 'Note', source: 'unknown', body: { a: 1 }, timestampMs: 7000 });
    expect(envelope.headers).toEqual({});
    expect(envelope.messageId).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('what cannot be sent', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  it.each<[string, Partial<Envelope>, RegExp]>([
    ['bytes', { body: { file: [new Uint8Array(3)] } }, /bytes/],
    ['a buffer', { body: { file: Buffer.from('abc') } }, /bytes/],
    ['a bigint', { body: 1n }, /Note cannot be sent to another process/],
    ['a body that is too large', { body: 'x'.repeat(1000) }, /has 1002 bytes, and the bus takes 1000/],
    ['an id that is too long', { correlationId: 'é'.repeat(128) }, /more than 255 bytes/],
    ['a header with a long name', { headers: { ['n'.repeat(250)]: '' } }, /more than 255 bytes/],
  ])('is %s', (_what, more, message) => {
    const encode = (): unknown => encodeMessage({ ...note(), ...more }, { maxBytes });
    expect(encode).toThrow(message);
    expect(encode).toThrow(expect.objectContaining({ code: 'message_invalid' }));
  });
});

describe('what cannot be read', () => {
  const good = { deliveryTag: 1, redelivered: false, routingKey: 'a', contentType: 'application/json', type: 'T' };
  it.each<[string, Partial<BrokerMessage>]>([
    ['half a JSON text', { body: Buffer.from('{"password": "hunter2"') }],
    ['no JSON', { contentType: 'text/plain', body: 'hunter2' }],
    ['no type', { type: undefined, body: 'hunter2' }],
    ['an empty type', { type: '', body: 'hunter2' }],
  ])('is %s, and nothing of it is repeated', (_what, more) => {
    const decode = (): unknown => decodeMessage({ body: {}, ...good, ...more });
    expect(decode).toThrow(expect.objectContaining({ code: 'message_invalid' }));
    expect(decode).not.toThrow(/hunter2/);
  });
});
