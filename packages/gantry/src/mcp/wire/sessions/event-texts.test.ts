import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EventText } from './event-texts.ts';
import { eventTexts, isEventStream, withData } from './event-texts.ts';

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const eventsOf = async (text: string, size = 1_000): Promise<EventText[]> => {
  const events: EventText[] = [];
  for await (const event of eventTexts(inPieces(text, size))) events.push(event);
  return events;
};

const dataOf = async (text: string, size?: number): Promise<string[]> =>
  (await eventsOf(text, size)).map(({ data }) => data).filter((data) => data !== '');

it.each([
  ['data: a\n\ndata: b\n\n', ['a', 'b']],
  ['data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
  ['data: a\r\rdata: b\r\r', ['a', 'b']],
  ['data: a\n\r\ndata: b\n\n', ['a', 'b']],
  ['data: a\n\rdata: b\r\n\n', ['a', 'b']],
  ['data: a\r\n\rdata: b\r\r\n', ['a', 'b']],
  ['data:a\ndata: b\r\ndata\rdata:  c\n\n', ['a\nb\n\n c']],
  ['\uFEFFdata: a\n\ndata: b', ['a', 'b']],
  [': comment\nevent: message\nid: 1\ndata: a\nretry: 5\n\n\n\n', ['a']],
  ['database: x\n\n', []],
])('reads %j as the standard says, in pieces of any size', async (text, data) => {
  for (const size of [1, 2, 3, 1_000]) expect(await dataOf(text, size)).toEqual(data);
});

it('loses and adds nothing', async () => {
  const anyText = fc
    .array(fc.constantFrom('\n', '\r', '\r\n', 'data:', ' x', 'é', '\uFEFF', '\u2028', ':'))
    .map((all) => all.join(''));
  await fc.assert(
    fc.asyncProperty(anyText, fc.integer({ min: 1, max: 7 }), async (text, size) => {
      const events = await eventsOf(text, size);
      expect(events.map((event) => event.text).join('')).toBe(text);
      expect(events.map(({ data }) => data).filter(Boolean)).toEqual(await dataOf(text, 1_000));
    }),
  );
});

it('looks at each piece of a long event once', async () => {
  const piece = new TextEncoder().encode('x'.repeat(4_096));
  async function* long(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode('data: ');
    for (let count = 0; count < 8_000; count += 1) yield piece;
    yield new TextEncoder().encode('\n\n');
  }
  const events: EventText[] = [];
  for await (const event of eventTexts(long())) events.push(event);
  // Looking at all of it again for each piece would be 131 GB of text, far beyond the time of a test.
  expect(events.map(({ text }) => text.length)).toEqual([8_000 * 4_096 + 8]);
});

it('replaces the data of an event and keeps its other lines', () => {
  expect(withData({ text: '\uFEFFid: 7\r\ndata: a\r\nevent: message\r\ndata: b\r\n\r\n' }, 'c')).toBe(
    'id: 7\nevent: message\ndata: c\n\n',
  );
});

it.each([
  ['text/event-stream', true],
  ['Text/Event-Stream;charset=utf-8', true],
  ['application/json, TEXT/EVENT-STREAM', true],
  ['application/json', false],
])('tells whether %s is a stream', (type, is) => {
  expect(isEventStream(new Headers({ 'content-type': type }))).toBe(is);
});
