import { describe, expect, it } from 'vitest';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { ReplyOptions } from './reply.ts';
import { createReply } from './reply.ts';

const open = (options: Partial<ReplyOptions> = {}) => {
  const clock = fakeClock();
  return { clock, reply: createReply({ clock, ...options }) };
};

const event = (data: string): string => `event: message\ndata: ${data}\n\n`;

describe('createReply', () => {
  it('is one JSON body when the result comes soon', async () => {
    const { clock, reply } = open({ headers: { 'x-a': '1' } });
    await clock.advance(9_999);
    reply.finish('{"a":1}');
    const response = await reply.response;
    expect([response.headers.get('content-type'), response.headers.get('x-a')]).toEqual(['application/json', '1']);
    expect(await response.text()).toBe('{"a":1}');
    expect(clock.pendingTimers).toBe(0);
  });

  it('becomes a stream at the first message before the result', async () => {
    const { clock, reply } = open({ headers: { 'x-a': '1' } });
    reply.notify('1');
    reply.notify('2');
    const response = await reply.response;
    reply.finish('3');
    expect([response.headers.get('content-type'), response.headers.get('x-a')]).toEqual(['text/event-stream', '1']);
    expect(await response.text()).toBe(event('1') + event('2') + event('3'));
    expect(clock.pendingTimers).toBe(0);
  });

  it('becomes a stream after 10 s, and is kept alive every 15 s', async () => {
    const { clock, reply } = open();
    await clock.advance(10_000);
    const response = await reply.response;
    await clock.advance(30_000);
    reply.finish('1');
    expect(await response.text()).toBe(`: keepalive\n\n: keepalive\n\n${event('1')}`);
    expect(clock.pendingTimers).toBe(0);
  });

  it('drops what is sent after the end', async () => {
    const { reply } = open();
    reply.finish('1');
    reply.notify('2');
    reply.finish('3');
    expect(await (await reply.response).text()).toBe('1');
  });

  it.each([{ streams: true }, { streams: false }])(
    'ends an empty stream when abandoned (streams: $streams)',
    async ({ streams }) => {
      const { clock, reply } = open();
      if (streams) await clock.advance(10_000);
      reply.abandon();
      const response = await reply.response;
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      expect(await response.text()).toBe('');
    },
  );

  it('says when the client closes the stream, and takes what still comes', async () => {
    let gone = 0;
    const { clock, reply } = open({ onGone: () => (gone += 1) });
    reply.notify('1');
    await (await reply.response).body?.cancel();
    reply.notify('2');
    reply.finish('3');
    expect([gone, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('leaves out what a client does not read beyond 8 MB, and never the result', async () => {
    const { reply } = open();
    const megabyte = 'x'.repeat(1024 * 1024);
    for (let count = 0; count < 50; count += 1) reply.notify(megabyte);
    reply.finish('the result');
    const text = await (await reply.response).text();
    expect(text.split('event: message').length - 1).toBeLessThan(12);
    expect(text).toContain('the result');
  });

  it('tells all that is read in time', async () => {
    const { reply } = open();
    reply.notify('0');
    const reader = (await reply.response).body?.getReader();
    let bytes = 0;
    for (let count = 0; count < 20; count += 1) {
      reply.notify('x'.repeat(1024 * 1024));
      bytes += (await reader?.read())?.value?.byteLength ?? 0;
    }
    reply.finish('1');
    for (let piece = await reader?.read(); piece?.value; piece = await reader?.read()) bytes += piece.value.byteLength;
    expect(bytes).toBeGreaterThan(20 * 1024 * 1024);
  });
});
