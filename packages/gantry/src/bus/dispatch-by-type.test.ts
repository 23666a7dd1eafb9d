import { describe, expect, it } from 'vitest';
import { silentLog } from '../kernel/log.ts';
import { createEnvelope } from './envelope.ts';
import { defineRoute, dispatchByType } from './dispatch-by-type.ts';

const message = (messageType: string, body: unknown) => createEnvelope({ messageType, source: 'test', body });

const parseNumber = (body: unknown): number => {
  if (typeof body !== 'number') throw new TypeError('not a number');
  return body;
};

describe('dispatchByType', () => {
  const seen: unknown[] = [];
  const handler = dispatchByType(
    {
      count: defineRoute(parseNumber, async (count, envelope, topic) => {
        seen.push([count, envelope.messageType, topic]);
        if (count > 9) throw new RangeError('too many');
        return 'retry';
      }),
    },
    { log: silentLog },
  );

  it('gives the read body to the route of the type, and returns its verdict', async () => {
    expect(await handler(message('count', 3), 'job')).toBe('retry');
    expect(seen).toEqual([[3, 'count', 'job']]);
  });

  it.each([
    ['a type without a route', 'other', 3],
    ['a type that names an inherited member', 'toString', 3],
    ['a body that cannot be read', 'count', 'three'],
  ])('dead-letters %s', async (_, type, body) => {
    expect(await handler(message(type, body), 'job')).toBe('dead-letter');
  });

  it('leaves what the handler throws to the bus', async () => {
    await expect(handler(message('count', 10), 'job')).rejects.toThrow('too many');
  });
});
