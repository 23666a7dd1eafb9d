import { expect, it } from 'vitest';
import { heldResponse, heldStream } from './held-stream.ts';

const hold = () => {
  const held = { isHeld: true, [Symbol.dispose]: () => void (held.isHeld = false) };
  return held;
};

it('holds while a stream is read, and lets go at its end', async () => {
  const held = hold();
  const response = heldResponse(new Response('abc', { status: 201, headers: { 'x-a': 'b' } }), held);
  expect(held.isHeld).toBe(true);
  expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([201, 'b', 'abc']);
  expect(held.isHeld).toBe(false);
});

it('lets go at once where there is no stream', () => {
  const held = hold();
  heldResponse(new Response(null, { status: 202 }), held);
  expect(held.isHeld).toBe(false);
});

it('lets go when a stream fails', async () => {
  const held = hold();
  const reader = new ReadableStream<Uint8Array>().getReader();
  const broken = heldStream(reader, () => Promise.reject(new Error('broken')), held);
  await expect(broken.getReader().read()).rejects.toThrow('broken');
  expect(held.isHeld).toBe(false);
});

it('lets go, says so and cancels the source when a silent stream is cancelled', async () => {
  const held = hold();
  const seen: string[] = [];
  const source = new ReadableStream<Uint8Array>({ cancel: () => void seen.push('source') });
  const reader = source.getReader();
  const next = async () => (await reader.read()).value;
  await heldStream(reader, next, held, () => void seen.push('called')).cancel();
  expect([held.isHeld, seen]).toEqual([false, ['called', 'source']]);
});
