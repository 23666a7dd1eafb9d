import pino from 'pino';
import type { Log } from '../kernel/log.ts';
import { scrubValue } from '../text/scrub.ts';
import type { LogConfig } from './config/config-schema.ts';

/**
 * The process's log: one JSON line per event on standard error, as text on a terminal. Values of credential-named keys and
 * secret-shaped texts are masked.
 */
export const createLog = ({ level }: LogConfig, destination: NodeJS.WriteStream = process.stderr): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (facts) => scrubValue(facts) as Record<string, unknown>,
      },
    },
    destination.isTTY ? toLines(destination) : destination,
  );

/** One readable line per event, for people at a terminal. */
const toLines = (destination: NodeJS.WriteStream): { write(line: string): void } => ({
  write: (line) => {
    const { level, time, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
    const details = Object.entries(facts).map(
      ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    destination.write(`${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(msg)}${details.join('')}\n`);
  },
});
