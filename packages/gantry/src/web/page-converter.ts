import { Worker } from 'node:worker_threads';
import { orAborted, throwIfAborted } from '../kernel/abort.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import { messageOf } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { workerUrl } from '../kernel/worker-url.ts';
import type { ConvertedPage, ReadMode } from './html/convert-page.ts';

/** A body to be turned into text. */
export interface ConvertRequest {
  readonly bytes: Uint8Array;
  readonly kind: 'html' | 'json' | 'text';
  /** Label of the `Content-Type` header. */
  readonly charset: string | undefined;
  /** Where the page was found; its links start from there. */
  readonly url: string;
  /** `raw` decodes and leaves the rest as it is. */
  readonly mode: ReadMode | 'raw';
}

/** What became of a body: a page of HTML with what is known about it, or a text. */
export type ConvertedBody =
  | { readonly kind: 'page'; readonly page: ConvertedPage }
  | { readonly kind: 'text'; readonly text: string };

/** Turns bodies into texts outside the main thread, one after another. */
export interface PageConverter extends AsyncDisposable {
  /** Always answers: a body that cannot be converted in time comes back as its bare text. */
  convert(request: ConvertRequest, options?: { readonly signal?: AbortSignal | undefined }): Promise<ConvertedBody>;
}

/** How a converter works. */
export interface PageConverterOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** How long one body may take. Default 5 s. */
  readonly timeoutMs?: number | undefined;
  /** The module that runs in the thread. */
  readonly worker?: URL | undefined;
}

const idleMs = 60_000;
// A page of 5 MB is held and written in about half of this; more young generation would only be slower to collect.
const resourceLimits = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 16 };

/**
 * Makes a converter. Its thread is started for the first body, ended when it is stuck or has had nothing to do for a minute, and
 * started again for the next one.
 */
export const createPageConverter = (options: PageConverterOptions): PageConverter => {
  const { clock, log, timeoutMs = 5_000, worker: module = workerUrl('web/page-worker') } = options;
  let thread: Worker | undefined;
  let idle: Timer | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const endThread = async (): Promise<void> => {
    const ended = thread;
    thread = undefined;
    idle?.stop();
    await ended?.terminate();
  };

  const run = async (request: ConvertRequest, signal: AbortSignal | undefined): Promise<ConvertedBody> => {
    throwIfAborted(signal);
    idle?.stop();
    const worker = (thread ??= new Worker(module, { resourceLimits, env: {}, stdin: false }));
    worker.ref();
    const answer = Promise.withResolvers<ConvertedBody>();
    const fail = (thrown: unknown): void => answer.reject(thrown);
    const timer = clock.startTimer(timeoutMs, () => fail(new Error(`not done within ${timeoutMs} ms`)));
    const onExit = (): void => fail(new Error('the thread ended'));
    const onAbort = (): void => fail(signal?.reason);
    worker.on('message', answer.resolve).on('error', fail).on('exit', onExit);
    signal?.addEventListener('abort', onAbort, { once: true });
    worker.postMessage(request, []);
    try {
      return await answer.promise;
    } catch (thrown) {
      await endThread();
      throwIfAborted(signal);
      log.warn({ url: request.url, reason: messageOf(thrown) }, 'a page could not be converted; its bare text is used');
      return await bareText(request);
    } finally {
      timer.stop();
      signal?.removeEventListener('abort', onAbort);
      worker.off('message', answer.resolve).off('error', fail).off('exit', onExit);
      worker.unref();
      if (thread === worker) idle = clock.startTimer(idleMs, () => void endThread());
    }
  };

  return {
    convert: (request, { signal } = {}) => {
      const result = last.then(() => run(request, signal));
      last = result.catch(() => undefined);
      return signal ? orAborted(result, signal) : result;
    },
    [Symbol.asyncDispose]: endThread,
  };
};

const bareText = async ({ bytes, charset, kind }: ConvertRequest): Promise<ConvertedBody> => {
  const [{ decodeBytes }, { stripTags }] = await Promise.all([
    import('./html/decode-bytes.ts'),
    import('./html/strip-tags.ts'),
  ]);
  const text = decodeBytes(bytes, { charset, isHtml: kind === 'html' });
  return { kind: 'text', text: kind === 'html' ? stripTags(text).replaceAll(/[ \t]+/g, ' ') : text };
};
