/** Facts of a log line. Values of credential-named keys are masked by the host's logger. */
export type LogFacts = Readonly<Record<string, unknown>>;

/** Structured logging as the rooms see it; the host gives a pino logger. */
export interface Log {
  debug(facts: LogFacts, message: string): void;
  info(facts: LogFacts, message: string): void;
  warn(facts: LogFacts, message: string): void;
  error(facts: LogFacts, message: string): void;
}

const drop = (): void => {};

/** Drops everything: for programs that embed a room and want no log. */
export const silentLog: Log = { debug: drop, info: drop, warn: drop, error: drop };
