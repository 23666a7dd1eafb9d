import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from './http-answer.ts';
import { requestAnswer } from './http-answer.ts';

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** Asks a real server that answers as the test says. */
const asked = async (
  serve: Serve,
  signal?: AbortSignal,
): Promise<AsyncDisposable & { readonly answer: Promise<HttpAnswer> }> => {
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dispatcher = new Agent();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = requestAnswer(dispatcher, { origin, path: '/', method: 'POST', body: '{}' }, signal);
  answer.catch(() => undefined);
  return {
    answer,
    [Symbol.asyncDispose]: async () => {
      await dispatcher.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
};
const limit = { maxBytes: 1_000, server: 's' };

describe('an answer over HTTP', () => {
  it('gives head and text', async () => {
    await using call = await asked((_, response) => {
      response.writeHead(201, 'Made', { 'x-one': '1' }).end('héllo');
    });
    const { status, statusText, headers, body } = await call.answer;
    expect([status, statusText, headers['x-one']]).toEqual([201, 'Made', '1']);
    expect(await body.text(limit)).toBe('héllo');
  });

  it('gives the text of a body whose pieces come after it was asked for', async () => {
    let end: () => void = () => {};
    await using call = await asked((_, response) => {
      response.write('a');
      end = () => void response.end('b');
    });
    const { body } = await call.answer;
    const text = body.text(limit);
    end();
    expect(await text).toBe('ab');
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('unpacks what came as %s, asked for or not', async (coding, pack) => {
    await using call = await asked((_, response) => {
      response.writeHead(200, { 'content-encoding': coding }).end(pack('hello'));
    });
    expect(await (await call.answer).body.text(limit)).toBe('hello');
  });

  it.each([
    ['in one piece', {}, Buffer.alloc(1_001)],
    ['packed small', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(1_001))],
  ])('refuses a text larger than accepted, %s', async (_, headers, bytes) => {
    await using call = await asked((__, response) => {
      response.writeHead(200, headers).end(bytes);
    });
    await expect((await call.answer).body.text(limit)).rejects.toMatchObject({ code: 'response_too_large' });
  });

  it('ends the download of a text that has become too large', async () => {
    const closed = Promise.withResolvers<void>();
    await using call = await asked((_, response) => {
      response.on('close', () => closed.resolve());
      response.write(Buffer.alloc(2_000));
    });
    await expect((await call.answer).body.text(limit)).rejects.toMatchObject({ code: 'response_too_large' });
    await closed.promise;
  });

  it('makes a server wait whose pieces nobody reads, and gives all of them to a late reader', async () => {
    const size = 32 * 1024 * 1024;
    let response: ServerResponse | undefined;
    await using call = await asked((_, answered) => {
      response = answered;
      answered.end(Buffer.alloc(size, 'x'));
    });
    const { body } = await call.answer;
    // More than sockets hold cannot have gone out.
    expect(response?.writableFinished).toBe(false);
    let bytes = 0;
    for await (const piece of body) bytes += piece.length;
    expect(bytes).toBe(size);
  });

  it('ends the download when its reader stops', async () => {
    const closed = Promise.withResolvers<void>();
    await using call = await asked((_, response) => {
      response.on('close', () => closed.resolve());
      response.write('one');
    });
    for await (const piece of (await call.answer).body) {
      expect(piece.toString()).toBe('one');
      break;
    }
    await closed.promise;
  });

  it('fails with the reason of its signal: before, while it waits, and in the middle of the body', async () => {
    const reason = new Error('enough');
    await using before = await asked(() => undefined, AbortSignal.abort(reason));
    await expect(before.answer).rejects.toBe(reason);

    const waits = new AbortController();
    await using waiting = await asked(() => waits.abort(reason), waits.signal);
    await expect(waiting.answer).rejects.toBe(reason);

    const reads = new AbortController();
    await using reading = await asked((_, response) => void response.write('one'), reads.signal);
    const { body } = await reading.answer;
    const text = body.text(limit);
    reads.abort(reason);
    await expect(text).rejects.toBe(reason);
  });

  it('fails when the server breaks off, before the head and behind it', async () => {
    await using early = await asked((request) => request.socket.destroy());
    await expect(early.answer).rejects.toThrow('other side closed');
    await using late = await asked((request, response) => {
      response.write('one', () => request.socket.destroy());
    });
    const { body } = await late.answer;
    await expect(body.text(limit)).rejects.toThrow();
  });
});
