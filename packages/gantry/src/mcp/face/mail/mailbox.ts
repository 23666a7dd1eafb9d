/**
 * Letters between the processes on one store. What a client sends to one process may belong to what another one holds: that is left in the
 * store, encrypted, until the other takes it. No process has to be able to reach another, and none reads the store while nothing waits.
 */
import { delay } from '../../../kernel/abort.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { KeyValue } from '../../../store/key-value.ts';
import type { Sealing } from '../pass/carried-state.ts';

/** A process that looks for letters, until this is disposed. */
export interface Looking extends Disposable {
  /** Resolves when other processes can see that it does. */
  readonly isSeen: Promise<void>;
}

/** The letters of one process. Disposing says to the others that it is gone. */
export interface Mailbox extends AsyncDisposable {
  /** Names this process. */
  readonly address: string;
  /** Hears letters about a subject, which has no slash in it, while the process looks for letters. */
  hear(subject: string, hears: (letter: JsonObject) => void): Disposable;
  /** Looks for letters to this process. */
  look(): Looking;
  /** Looks for letters to all processes. */
  lookForAll(): Disposable;
  /** Leaves a letter; false when it is too large. */
  send(to: string, subject: string, letter: JsonObject): Promise<boolean>;
  /** Leaves a letter for every process that looks for such in the next seconds. */
  sendToAll(subject: string, letter: JsonObject): Promise<void>;
  /** Whether a process takes letters. */
  isThere(process: string): Promise<boolean>;
  /** Resolves when a process takes no letters any more, which is noticed within some seconds. */
  untilGone(process: string, signal: AbortSignal): Promise<void>;
}

/** A longer letter is not left. */
export const maxLetterChars: number = 8 * 1024 * 1024;

const pollMs = 250;
// What somebody just said should not lie about for long.
const keptMs = 60_000;
const keptForAllMs = 10_000;
// Renewed four times before it runs out, so that a store that is slow makes nobody dead.
const markMs = 10_000;
const renewMs = 2_500;
const everybody = 'all';
const markOf = (process: string): string => `there/${process}`;
const contextOf = (to: string, subject: string): string => `letter/${to}/${subject}`;

/** Opens the mailbox of this process. */
export const createMailbox = (options: {
  readonly sealing: Sealing;
  readonly letters: KeyValue<string>;
  readonly clock: Clock;
  readonly log: Log;
}): Mailbox => {
  const { sealing, letters, clock, log } = options;
  const address = newId();
  const hearers = new Map<string, (letter: JsonObject) => void>();
  /** Letters to all that are still there and were heard. */
  let heardOfAll: ReadonlySet<string> = new Set();
  let looking = 0;
  let lookingForAll = 0;
  let sent = 0;
  let seenUntilMs = 0;
  let marking: Promise<void> | undefined;
  let polling: Timer | undefined;
  let sweeping: Timer | undefined;
  let isClosed = false;

  /** Says that this process takes letters. */
  const mark = (): Promise<void> => {
    if (seenUntilMs - clock.nowMs() > markMs - renewMs) return Promise.resolve();
    marking ??= writeMark().finally(() => (marking = undefined));
    return marking;
  };
  const writeMark = async (): Promise<void> => {
    const untilMs = clock.nowMs() + markMs;
    try {
      await letters.set(markOf(address), '', { ttlMs: markMs });
      seenUntilMs = untilMs;
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'other processes cannot be told in the store that this one waits');
    }
  };

  const poll = async (): Promise<void> => {
    try {
      if (looking > 0) void mark();
      if (looking > 0 || clock.nowMs() < seenUntilMs) await collect();
      if (lookingForAll > 0) await collectForAll();
    } catch (error) {
      // The store goes with the process.
      if (!isClosed)
        log.warn({ reason: messageOf(error) }, 'letters of other processes could not be looked for; tried again');
    }
    polling = undefined;
    start();
  };
  /** A process that others can see goes on until they cannot, so that what they leave is taken. */
  const start = (): void => {
    if (isClosed || polling) return;
    if (looking > 0 || lookingForAll > 0 || clock.nowMs() < seenUntilMs)
      polling = clock.startTimer(pollMs, () => void poll());
  };
  const collect = async (): Promise<void> => {
    for (const { key, value } of await letters.list(address)) {
      await letters.delete(key);
      deliver(key, value);
    }
  };
  const collectForAll = async (): Promise<void> => {
    const found = await letters.list(everybody);
    const before = heardOfAll;
    heardOfAll = new Set(found.map(({ key }) => key));
    for (const { key, value } of found) if (!before.has(key)) deliver(key, value);
  };
  const deliver = (key: string, sealed: string): void => {
    const [to = '', , , subject = ''] = key.split('/');
    const hears = hearers.get(subject);
    if (!hears) return;
    let text: string;
    try {
      text = sealing.open(sealed, contextOf(to, subject));
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'a letter of another process could not be read, and was dropped');
      return;
    }
    const letter = parseJson(text);
    if (letter.ok && isObject(letter.value)) hears(letter.value as JsonObject);
  };

  const leave = async (to: string, subject: string, text: string, ttlMs: number): Promise<void> => {
    // In the order of their keys they are read as they were sent: what takes a letter back comes behind it, whatever each is about.
    const key = `${to}/${String((sent += 1)).padStart(12, '0')}/${address}/${subject}`;
    await letters.set(key, sealing.seal(text, contextOf(to, subject)), { ttlMs });
    // A process that is gone takes nothing.
    sweeping ??= clock.startTimer(keptMs, () => {
      sweeping = undefined;
      letters
        .sweep()
        .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'old letters could not be swept'));
    });
  };

  return {
    address,
    hear: (subject, hears) => {
      hearers.set(subject, hears);
      return {
        [Symbol.dispose]: () => {
          if (hearers.get(subject) === hears) hearers.delete(subject);
        },
      };
    },
    look: () => {
      looking += 1;
      start();
      return { isSeen: mark(), [Symbol.dispose]: once(() => (looking -= 1)) };
    },
    lookForAll: () => {
      lookingForAll += 1;
      start();
      return { [Symbol.dispose]: once(() => (lookingForAll -= 1)) };
    },
    send: async (to, subject, letter) => {
      const text = JSON.stringify(letter);
      if (text.length > maxLetterChars) return false;
      await leave(to, subject, text, keptMs);
      return true;
    },
    sendToAll: (subject, letter) => leave(everybody, subject, JSON.stringify(letter), keptForAllMs),
    isThere: async (process) => (await letters.get(markOf(process))) !== undefined,
    untilGone: async (process, signal) => {
      let seenMs = clock.elapsedMs();
      for (;;) {
        try {
          if (!(await letters.get(markOf(process)))) return;
          seenMs = clock.elapsedMs();
        } catch (error) {
          // A store that is away for a moment says nothing about the process.
          if (clock.elapsedMs() - seenMs > markMs) throw error;
        }
        await delay(clock, renewMs, signal);
      }
    },
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
      polling?.stop();
      sweeping?.stop();
      hearers.clear();
      await marking;
      if (clock.nowMs() >= seenUntilMs) return;
      try {
        await letters.delete(markOf(address));
      } catch (error) {
        log.warn({ reason: messageOf(error) }, 'other processes could not be told that this one has ended');
      }
    },
  };
};

const once = (run: () => void): (() => void) => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
};
