import { describe, expect, it } from 'vitest';
import { createEnvelope, withHeaders } from './envelope.ts';

describe('createEnvelope', () => {
  it('gives every message its own id and its time', () => {
    const fields = { messageType: 'note', source: 'test', body: null };
    const [one, two] = [createEnvelope(fields), createEnvelope(fields)];
    expect(one.messageId).toMatch(/^[0-9a-f]{32}$/);
    expect(one.messageId).not.toBe(two.messageId);
    expect(one.timestampMs).toBeGreaterThan(0);
    expect(one.headers).toEqual({});
  });

  it('keeps id and time that an adapter has decoded', () => {
    const envelope = createEnvelope({ messageType: 'n', source: 's', body: 1, messageId: 'm1', timestampMs: 5 });
    expect(envelope).toMatchObject({ messageId: 'm1', timestampMs: 5 });
  });

  it('is frozen at every depth and not touched by later changes of the given headers', () => {
    const headers: Record<string, string> = { a: '1' };
    const envelope = createEnvelope({ messageType: 'n', source: 's', body: { list: [{}] }, headers });
    headers['a'] = '2';
    const { list } = envelope.body as { list: object[] };
    expect(envelope.headers).toEqual({ a: '1' });
    for (const part of [envelope, envelope.headers, envelope.body, list, list[0]])
      expect(Object.isFrozen(part)).toBe(true);
  });
});

describe('withHeaders', () => {
  it('adds and replaces headers in a copy of the same message', () => {
    const envelope = createEnvelope({ messageType: 'n', source: 's', body: 1, headers: { a: '1', b: '1' } });
    const changed = withHeaders(envelope, { b: '2', c: '2' });
    expect(changed).toEqual({ ...envelope, headers: { a: '1', b: '2', c: '2' } });
    expect(envelope.headers).toEqual({ a: '1', b: '1' });
  });
});
