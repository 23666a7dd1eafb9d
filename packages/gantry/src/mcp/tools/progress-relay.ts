import type { Bus, MessageHandler, Subscription } from '../../bus/bus.ts';
import { topics } from '../../bus/topics.ts';
import { isObject } from '../../kernel/json.ts';
import type { Progress } from '../../tool/context.ts';
import { toolMessageTypes } from '../../tool/messages.ts';

/** Hands the progress of running calls to those who made them, by correlation id. */
export interface ProgressRelay extends AsyncDisposable {
  /** Listens to one call until the returned function is called. Ready when the promise resolves. */
  listen(correlationId: string, onProgress: (progress: Progress) => void): Promise<() => void>;
}

/** Makes a relay. It subscribes at the first call that wants progress; a failed attempt is repeated by the next. */
export const createProgressRelay = (options: { readonly bus: Bus; readonly agent: string }): ProgressRelay => {
  const { bus, agent } = options;
  const listeners = new Map<string, (progress: Progress) => void>();
  let subscription: Promise<Subscription> | undefined;

  const relay: MessageHandler = async ({ messageType, correlationId, body }) => {
    // Progress of calls that others made, or that have ended, is nobody's here.
    if (messageType === toolMessageTypes.progress && isProgress(body)) listeners.get(correlationId ?? '')?.(body);
    return 'ack';
  };

  const subscribe = async (): Promise<void> => {
    const attempt = (subscription ??= bus.subscribe(topics.toolProgressOf(agent), `${agent}.mcp-progress`, relay));
    try {
      await attempt;
    } catch (error) {
      if (subscription === attempt) subscription = undefined;
      throw error;
    }
  };

  return {
    listen: async (correlationId, onProgress) => {
      await subscribe();
      listeners.set(correlationId, onProgress);
      return () => void listeners.delete(correlationId);
    },
    [Symbol.asyncDispose]: async () => {
      listeners.clear();
      const [settled] = await Promise.allSettled([subscription]);
      if (settled.status === 'fulfilled') await settled.value?.[Symbol.asyncDispose]();
    },
  };
};

const isProgress = (body: unknown): body is Progress => isObject(body) && typeof body['progress'] === 'number';
