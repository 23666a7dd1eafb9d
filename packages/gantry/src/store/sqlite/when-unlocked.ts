import { setTimeout as wait } from 'node:timers/promises';
import { isObject } from '../../kernel/json.ts';

const busy = 5;
const longestWaitMs = 15_000;
const shortestPauseMs = 1;
const longestPauseMs = 20;

/**
 * Runs a database step, again and again while another connection holds the lock, for at most 15 s.
 *
 * SQLite's own waiting would stop the event loop, and with it the very transaction that is waited for when both connections
 * belong to this process. The lock is held in real time, so real time is waited, whatever clock the store was given.
 */
export const whenUnlocked = async <T>(step: () => T): Promise<T> => {
  const giveUpAtMs = performance.now() + longestWaitMs;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return step();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAtMs) throw error;
    }
    await wait(pauseMs);
  }
};

// The low byte of an extended result code is its primary code.
const isBusy = (error: unknown): boolean =>
  isObject(error) && typeof error['errcode'] === 'number' && (error['errcode'] & 0xff) === busy;
