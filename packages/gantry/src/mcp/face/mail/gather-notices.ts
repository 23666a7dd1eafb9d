import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';

/** Notices on their way to another process, several in one letter. */
export interface NoticeGatherer {
  readonly add: (notice: JsonObject) => void;
  /** Sends what is left; resolves when all was sent that could be. */
  end(): Promise<void>;
}

// As often as letters are looked for.
const gatherMs = 250;
// A server that talks without end is heard no further; its result is what the client waits for.
const mostInLetter = 100;

/** Makes one. Of more than a hundred notices in a quarter of a second, and of those that cannot be sent, the client does not hear. */
export const gatherNotices = (
  clock: Clock,
  send: (notices: readonly JsonObject[]) => Promise<unknown>,
): NoticeGatherer => {
  let gathered: JsonObject[] = [];
  let timer: Timer | undefined;
  let sending: Promise<unknown> = Promise.resolve();
  const flush = (): void => {
    timer?.stop();
    timer = undefined;
    if (gathered.length === 0) return;
    const notices = gathered;
    gathered = [];
    sending = sending.then(() => send(notices)).catch(() => undefined);
  };
  return {
    add: (notice) => {
      if (gathered.length >= mostInLetter) return;
      gathered.push(notice);
      timer ??= clock.startTimer(gatherMs, flush);
    },
    end: async () => {
      flush();
      await sending;
    },
  };
};
