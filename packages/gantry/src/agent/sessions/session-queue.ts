/** Work that waits for its session. */
interface Waiting {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly controller: AbortController;
  readonly isUrgent: boolean;
}

/** One thing at a time in each session; sessions do not wait for each other. */
export interface SessionQueue {
  /**
   * Runs `work` when the session is free. Urgent work aborts what runs in the session, and urgent work that waits, with `reason`; it goes
   * before what else waits. What is aborted before it began still begins, so that it can be put on record.
   * Resolves when the work has ended; never rejects for what other work threw.
   */
  run<T>(
    session: string,
    work: (signal: AbortSignal) => Promise<T>,
    options?: { readonly isUrgent?: boolean | undefined; readonly reason?: unknown },
  ): Promise<T>;
  /** Aborts what runs in the session; true when something did. */
  abort(session: string, reason: unknown): boolean;
  /** Aborts what runs in the session and everything that waits for it. What waits still begins, as with urgent work. */
  abortAll(session: string, reason: unknown): void;
  /** Aborts everything that runs, and runs nothing more. Resolves when it has ended. */
  close(reason: unknown): Promise<void>;
}

interface Lane {
  running: AbortController | undefined;
  readonly waiting: Waiting[];
}

/** Makes an empty queue. */
export const createSessionQueue = (): SessionQueue => {
  const lanes = new Map<string, Lane>();
  const pending = new Set<Promise<void>>();
  let closed: { readonly reason: unknown } | undefined;

  const next = (session: string, lane: Lane): void => {
    const waiting = lane.waiting.shift();
    if (!waiting) {
      lanes.delete(session);
      return;
    }
    const { controller } = waiting;
    if (closed) controller.abort(closed.reason);
    lane.running = controller;
    const running = waiting.run(controller.signal).finally(() => {
      pending.delete(running);
      lane.running = undefined;
      next(session, lane);
    });
    pending.add(running);
  };

  return {
    run: <T>(
      session: string,
      work: (signal: AbortSignal) => Promise<T>,
      { isUrgent = false, reason }: { readonly isUrgent?: boolean | undefined; readonly reason?: unknown } = {},
    ): Promise<T> => {
      const lane = lanes.get(session) ?? { running: undefined, waiting: [] };
      lanes.set(session, lane);
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const waiting: Waiting = {
        isUrgent,
        controller: new AbortController(),
        run: (signal) => work(signal).then(resolve, reject),
      };
      if (isUrgent) {
        // Behind urgent work that came before, and before everything else.
        const place = lane.waiting.findIndex((other) => !other.isUrgent);
        lane.waiting.splice(place === -1 ? lane.waiting.length : place, 0, waiting);
        lane.running?.abort(reason);
        for (const other of lane.waiting) if (other.isUrgent && other !== waiting) other.controller.abort(reason);
      } else lane.waiting.push(waiting);
      if (!lane.running) next(session, lane);
      return promise;
    },
    abort: (session, reason) => {
      const running = lanes.get(session)?.running;
      running?.abort(reason);
      return running !== undefined;
    },
    abortAll: (session, reason) => {
      const lane = lanes.get(session);
      lane?.running?.abort(reason);
      for (const { controller } of lane?.waiting ?? []) controller.abort(reason);
    },
    close: async (reason) => {
      closed = { reason };
      for (const { running } of lanes.values()) running?.abort(reason);
      // What still waits begins and ends aborted, so that everybody who waits for it is told.
      while (pending.size > 0) await Promise.all(pending);
    },
  };
};
