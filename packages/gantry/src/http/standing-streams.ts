import { GantryError } from '../kernel/errors.ts';
import type { Clock, Timer } from '../kernel/clock.ts';

/** Streams of events that clients read, each for as long as its token is good. */
export interface StandingStreams {
  /**
   * The response, whose stream breaks off when `isGood` says no. It is asked every 5 s, once for all streams of one `token`; when it throws,
   * nothing is known, and the stream stands. Anything but a stream of events is given back as it is.
   */
  hold(response: Response, token: string, isGood: () => Promise<boolean>): Response;
}

const everyMs = 5_000;

/** Makes them. */
export const createStandingStreams = (clock: Clock): StandingStreams => {
  const byToken = new Map<string, { readonly isGood: () => Promise<boolean>; readonly ends: Set<() => void> }>();
  let timer: Timer | undefined;

  const look = async (): Promise<void> => {
    for (const { isGood, ends } of byToken.values()) {
      const isOver = await isGood().then(
        (good) => !good,
        () => false,
      );
      if (isOver) for (const end of ends) end();
    }
    timer = byToken.size > 0 ? clock.startTimer(everyMs, () => void look()) : undefined;
  };

  const keep = (token: string, isGood: () => Promise<boolean>, end: () => void): (() => void) => {
    const { ends } = byToken.get(token) ?? { ends: new Set() };
    byToken.set(token, { isGood, ends: ends.add(end) });
    timer ??= clock.startTimer(everyMs, () => void look());
    return () => {
      ends.delete(end);
      if (ends.size > 0) return;
      byToken.delete(token);
      if (byToken.size > 0) return;
      timer?.stop();
      timer = undefined;
    };
  };

  return {
    hold: (response, token, isGood) => {
      const source = response.headers.get('content-type')?.startsWith('text/event-stream')
        ? response.body?.getReader()
        : undefined;
      if (!source) return response;
      let letGo: (() => void) | undefined;
      const body = new ReadableStream<Uint8Array>(
        {
          start: (controller) => {
            letGo = keep(token, isGood, () => {
              letGo?.();
              // An end would look as if all had been said.
              controller.error(new GantryError('auth_required', 'The token of this stream is good no longer.'));
              void source.cancel().catch(() => undefined);
            });
            // While the client does not read, nobody reads on here who would find out.
            source.closed.catch((error: unknown) => {
              letGo?.();
              controller.error(error);
            });
          },
          pull: async (controller) => {
            const piece = await source.read().catch(() => undefined);
            if (!piece) return;
            if (piece.value) return controller.enqueue(piece.value);
            letGo?.();
            controller.close();
          },
          cancel: async (reason) => {
            letGo?.();
            await source.cancel(reason).catch(() => undefined);
          },
        },
        { highWaterMark: 0 },
      );
      return new Response(body, response);
    },
  };
};
