import { expect, it } from 'vitest';
import { boundedStream } from './bounded-stream.ts';

/** A source that writes without looking whether it is read. */
const start = (mostWaitingBytes: number) => {
  const cancelled = Promise.withResolvers<unknown>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const source = new ReadableStream<Uint8Array>({
    start: (given) => void (controller = given),
    cancel: cancelled.resolve,
  });
  const reader = boundedStream(source, mostWaitingBytes).getReader();
  const read = async () => new TextDecoder().decode((await reader.read()).value);
  return {
    reader,
    read,
    cancelled: cancelled.promise,
    write: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
    fail: (error: Error) => controller?.error(error),
  };
};

it('gives what it is given to whoever reads, however much that is, and ends with it', async () => {
  const { reader, read, write, end } = start(4);
  for (const text of ['aaa', 'bbb', 'a piece that is larger', 'ccc']) {
    write(text);
    expect(await read()).toBe(text);
  }
  write('ddd');
  end();
  expect(await read()).toBe('ddd');
  expect((await reader.read()).done).toBe(true);
});

it('breaks off with all that waits when too much of it does, and cancels its source', async () => {
  const { read, write, cancelled } = start(4);
  for (const text of ['aaa', 'bbb', 'ccc']) write(text);
  expect(await cancelled).toMatchObject({ code: 'limit_reached' });
  await expect(read()).rejects.toMatchObject({ code: 'limit_reached' });
});

it('cancels its source when it is cancelled, and fails when that fails', async () => {
  const one = start(4);
  await one.reader.cancel('gone');
  expect(await one.cancelled).toBe('gone');
  const other = start(4);
  other.fail(new Error('broken'));
  await expect(other.read()).rejects.toThrow('broken');
});
