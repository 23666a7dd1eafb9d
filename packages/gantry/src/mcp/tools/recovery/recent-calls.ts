import type { Clock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { CallContext } from '../../../tool/context.ts';

/** Calls that worked, as an example for one that did not. */
export interface RecentCalls {
  note(context: CallContext, server: string, tool: string, args: JsonObject): void;
  /** Arguments of this session's calls of the last hour that worked, as JSON: of the tool itself first, then of others of its server; at most five. */
  related(
    context: CallContext,
    server: string,
    tool: string,
  ): readonly { readonly tool: string; readonly args: string }[];
}

interface Noted {
  readonly server: string;
  readonly tool: string;
  readonly args: string;
  readonly atMs: number;
}

const keptASession = 30;
const keptSessions = 500;
const longestArguments = 400;
const memoryMs = 60 * 60_000;
const shownMost = 5;

/** Makes an empty memory of calls. Calls of callers without a session are not kept. */
export const createRecentCalls = (clock: Clock): RecentCalls => {
  // Least recently used first.
  const sessions = new Map<string, Noted[]>();
  return {
    note: (context, server, tool, args) => {
      const session = sessionOf(context);
      if (session === undefined || isClearlyLong(args)) return;
      const text = JSON.stringify(args);
      if (text.length > longestArguments) return;
      const calls = sessions.get(session) ?? [];
      const others = calls.filter((call) => call.server !== server || call.tool !== tool || call.args !== text);
      sessions.delete(session);
      sessions.set(session, [...others, { server, tool, args: text, atMs: clock.nowMs() }].slice(-keptASession));
      for (const oldest of sessions.keys()) if (sessions.size > keptSessions) sessions.delete(oldest);
    },
    related: (context, server, tool) => {
      const session = sessionOf(context);
      const calls = (session === undefined ? undefined : sessions.get(session)) ?? [];
      const recent = calls
        .filter((call) => call.server === server && clock.nowMs() - call.atMs <= memoryMs)
        .toReversed();
      return [...recent.filter((call) => call.tool === tool), ...recent.filter((call) => call.tool !== tool)].slice(
        0,
        shownMost,
      );
    },
  };
};

// Files travel in arguments; they are not worth writing out to learn that they are long.
const isClearlyLong = (args: JsonObject): boolean =>
  Object.values(args).some((value) => typeof value === 'string' && value.length > longestArguments);

const sessionOf = ({ namespace, connection, client }: CallContext): string | undefined =>
  namespace ?? connection ?? client;
