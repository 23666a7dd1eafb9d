import pino from 'pino';
import { GantryError } from '../kernel/errors.ts';
import type { Log, LogFacts } from '../kernel/log.ts';
import { scrubText, scrubValue } from '../text/scrub.ts';
import type { LogConfig } from './config/config-schema.ts';

/** Where log lines go. */
export interface LogDestination {
  write(line: string): unknown;
  readonly isTTY?: boolean | undefined;
}

/**
 * The process's log: one JSON line per event on standard error, as text on a terminal. Values of credential-named keys and
 * secret-shaped texts are masked, in messages and stacks of errors too.
 */
export const createLog = ({ level }: LogConfig, destination: LogDestination = process.stderr): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (facts) => maskFacts(facts) },
      serializers: { err: (error: unknown) => error },
    },
    destination.isTTY ? toLines(destination) : destination,
  );

const maskFacts = (facts: LogFacts): Record<string, unknown> => {
  const { err, ...rest } = facts;
  const masked = scrubValue(rest) as Record<string, unknown>;
  return err === undefined ? masked : { ...masked, err: errorFacts(err) };
};

const errorFacts = (thrown: unknown): unknown => {
  if (!(thrown instanceof Error)) return scrubText(String(thrown));
  const cause = thrown.cause === undefined ? {} : { cause: errorFacts(thrown.cause) };
  const code = GantryError.is(thrown) ? thrown.code : (thrown as NodeJS.ErrnoException).code;
  return { name: thrown.name, code, stack: scrubText(thrown.stack ?? thrown.message), ...cause };
};

/** One readable line per event, for people at a terminal. */
const toLines = (destination: LogDestination): LogDestination => ({
  write: (line) => {
    const { level, time, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
    const details = Object.entries(facts).map(
      ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    destination.write(`${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(msg)}${details.join('')}\n`);
  },
});
