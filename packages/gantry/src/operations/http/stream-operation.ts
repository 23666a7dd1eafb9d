import type { AnyOperation } from '../operation.ts';
import type { OperationDeps } from '../operation-deps.ts';
import { toErrorAnswer } from './error-status.ts';

/** Sent while nothing else is, so that proxies keep the connection and a reader that has gone is noticed. */
const pingEveryMs = 15_000;

/**
 * Runs an operation as a stream of server-sent events: each under its type as it happens, at the end `result` with the output or `error`. The
 * operation is ended when its reader leaves.
 */
export const streamOperation = (
  operation: AnyOperation,
  input: unknown,
  deps: OperationDeps,
  requestSignal: AbortSignal,
): Response => {
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, requestSignal]);
  const encoder = new TextEncoder();
  let stopPing = (): void => {};
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      let isOpen = true;
      const write = (text: string): void => {
        if (!isOpen) return;
        try {
          controller.enqueue(encoder.encode(text));
        } catch {
          // The reader left between two events; the signal tells the operation.
          isOpen = false;
        }
      };
      const ping = (): void => {
        write(': still here\n\n');
        timer = deps.clock.startTimer(pingEveryMs, ping);
      };
      let timer = deps.clock.startTimer(pingEveryMs, ping);
      stopPing = () => timer.stop();
      write(': begins\n\n');
      const run = async (): Promise<void> => {
        try {
          const output = await operation.handler(input, deps, {
            signal,
            onEvent: (event) => write(frame(event.type, event)),
          });
          write(frame('result', output));
        } catch (error) {
          const { status, body: answer } = toErrorAnswer(error);
          if (status === 500 && !signal.aborted)
            deps.log.error({ operation: operation.name, err: error }, 'an operation failed');
          write(frame('error', answer));
        } finally {
          stopPing();
          if (isOpen && !signal.aborted) controller.close();
          isOpen = false;
        }
      };
      void run();
    },
    cancel: (reason) => {
      stopPing();
      left.abort(reason);
    },
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  });
};

const frame = (type: string, data: unknown): string => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
