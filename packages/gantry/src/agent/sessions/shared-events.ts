/**
 * What happens in a session, for listeners in other processes on the store. A process that listens leaves a mark; one where something happens
 * looks for such marks now and then, and writes only while there is one. Events go in batches, and pieces of one text become one piece.
 */
import type { Clock, Timer } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { KeyValue } from '../../store/key-value.ts';
import type { OnSessionEvent, SessionEvent } from './session-events.ts';

/** Events between processes. Disposing sends what is left. */
export interface SharedEvents extends AsyncDisposable {
  /** Something has happened here. */
  tell(namespace: string, event: SessionEvent): void;
  /** Hears what happens elsewhere, in batches, until it is disposed. */
  listen(namespace: string, listener: OnSessionEvent): Disposable;
}

const batchMs = 250;
// So long nobody looks whether somebody has begun to listen.
const knownMs = 1_000;
const markMs = 10_000;
const renewMs = 3_000;
const keptMs = 10_000;
const sweepMs = 60_000;
const marksOf = (namespace: string): string => `marks/${namespace}`;
const batchesOf = (namespace: string): string => `events/${namespace}`;

interface Outgoing {
  events: SessionEvent[];
  timer: Timer | undefined;
  /** Batches go one after the other. */
  sending: Promise<void>;
  isHeard: boolean;
  knownUntilMs: number;
}

/** Makes them over a space of the store. */
export const createSharedEvents = (options: {
  readonly space: KeyValue<readonly SessionEvent[]>;
  readonly clock: Clock;
  readonly log: Log;
}): SharedEvents => {
  const { space, clock, log } = options;
  const self = newId();
  const outgoing = new Map<string, Outgoing>();
  let count = 0;
  let sweptAtMs = clock.elapsedMs();
  let isClosed = false;

  const send = async (namespace: string, out: Outgoing, events: readonly SessionEvent[]): Promise<void> => {
    try {
      if (clock.elapsedMs() >= out.knownUntilMs) {
        const marks = await space.list(marksOf(namespace));
        out.isHeard = marks.some(({ key }) => !key.endsWith(`/${self}`));
        out.knownUntilMs = clock.elapsedMs() + knownMs;
      }
      if (!out.isHeard) return;
      const number = String((count += 1)).padStart(12, '0');
      await space.set(`${batchesOf(namespace)}/${self}-${number}`, coalesced(events), { ttlMs: keptMs });
    } catch (error) {
      log.warn({ namespace, reason: messageOf(error) }, 'other processes could not be told what happens in a session');
    }
  };
  const flush = (namespace: string, out: Outgoing): void => {
    out.timer?.stop();
    out.timer = undefined;
    const { events } = out;
    out.events = [];
    out.sending = out.sending
      .then(() => send(namespace, out, events))
      .then(() => {
        if (!out.timer && clock.elapsedMs() >= out.knownUntilMs) outgoing.delete(namespace);
      });
  };

  /** Batches are there only where somebody listens, who clears them away too. */
  const sweep = async (): Promise<void> => {
    if (clock.elapsedMs() - sweptAtMs < sweepMs) return;
    sweptAtMs = clock.elapsedMs();
    await space.sweep();
  };

  return {
    tell: (namespace, event) => {
      const out = outgoing.get(namespace) ?? {
        events: [],
        timer: undefined,
        sending: Promise.resolve(),
        isHeard: false,
        knownUntilMs: -Infinity,
      };
      outgoing.set(namespace, out);
      out.events.push(event);
      out.timer ??= clock.startTimer(batchMs, () => flush(namespace, out));
    },
    listen: (namespace, listener) => {
      let isOver = false;
      let renewAtMs = -Infinity;
      /** Undefined until it is known what was there before. */
      let heard: ReadonlySet<string> | undefined;
      let timer: Timer | undefined;
      const mark = `${marksOf(namespace)}/${self}`;
      const look = async (): Promise<void> => {
        if (isClosed) return;
        try {
          if (clock.elapsedMs() >= renewAtMs) {
            await space.set(mark, [], { ttlMs: markMs });
            renewAtMs = clock.elapsedMs() + renewMs;
            await sweep();
          }
          const batches = await space.list(batchesOf(namespace));
          const news = batches.filter(({ key }) => heard && !heard.has(key) && !key.includes(`/${self}-`));
          heard = new Set(batches.map(({ key }) => key));
          // One process goes on where another has ended; the keys of each are in its own order.
          news.sort((a, b) => a.writtenAtMs - b.writtenAtMs || (a.key < b.key ? -1 : 1));
          if (!isOver) for (const { value } of news) for (const event of value) listener(event);
        } catch (error) {
          if (!isOver && !isClosed)
            log.warn(
              { namespace, reason: messageOf(error) },
              'what happens in a session elsewhere could not be looked for',
            );
        }
        if (!isOver && !isClosed) timer = clock.startTimer(batchMs, () => void look());
      };
      void look();
      return {
        [Symbol.dispose]: () => {
          isOver = true;
          timer?.stop();
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
      for (const [namespace, out] of outgoing) if (out.events.length > 0) flush(namespace, out);
      await Promise.all([...outgoing.values()].map(({ sending }) => sending));
    },
  };
};

/** Pieces of one text in a row as one piece. */
const coalesced = (events: readonly SessionEvent[]): readonly SessionEvent[] => {
  const all: SessionEvent[] = [];
  for (const event of events) {
    const last = all.at(-1);
    if (last && (event.type === 'text' || event.type === 'reasoning') && last.type === event.type)
      all[all.length - 1] = { type: event.type, text: last.text + event.text };
    else all.push(event);
  }
  return all;
};
