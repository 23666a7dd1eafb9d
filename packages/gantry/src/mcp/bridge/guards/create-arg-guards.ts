import { messageOf } from '../../../kernel/errors.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import type { ArgGuard, ArgGuardHandlers, GuardedCall } from './arg-guard.ts';
import { jsonSchema } from './json-schema.ts';
import { pathPrefix } from './path-prefix.ts';
import { urlHost } from './url-host.ts';

/** The rules that entries set for the arguments of calls. */
export interface ArgGuards {
  /** Why the guards of an entry cannot be enforced; `undefined` when they can. Such a server must not be connected. */
  problemOf(entry: ServerEntry): string | undefined;
  /** Why a call must not be sent; `undefined` when every guard lets it pass. The first guard that does not decides. */
  rejectionOf(entry: ServerEntry, call: GuardedCall): Promise<string | undefined>;
}

interface PreparedGuard {
  readonly handler: string;
  /** Lower-case names; empty for all tools. */
  readonly tools: ReadonlySet<string>;
  readonly check: ArgGuard;
}

type Prepared = { readonly guards: readonly PreparedGuard[] } | { readonly problem: string };

/** The guards `path-prefix`, `url-host` and `json-schema`, and the host's own. */
export const createArgGuards = (own: ArgGuardHandlers = {}): ArgGuards => {
  const handlers = new Map(
    Object.entries({ 'path-prefix': pathPrefix, 'url-host': urlHost, 'json-schema': jsonSchema, ...own }),
  );
  const known = new WeakMap<NonNullable<ServerEntry['argGuards']>, Prepared>();

  const prepare = (entries: NonNullable<ServerEntry['argGuards']>): Prepared => {
    const guards: PreparedGuard[] = [];
    for (const { handler, tools = [], options } of entries) {
      const make = handlers.get(handler);
      if (!make)
        return {
          problem: `Its entry asks for the argument guard "${handler}", which does not exist; there are ${[...handlers.keys()].map((name) => `"${name}"`).join(', ')}.`,
        };
      try {
        guards.push({ handler, tools: new Set(tools.map((tool) => tool.toLowerCase())), check: make(options) });
      } catch (error) {
        return { problem: `The options of its argument guard "${handler}" are wrong: ${messageOf(error)}` };
      }
    }
    return { guards };
  };

  const preparedOf = ({ argGuards }: ServerEntry): Prepared => {
    if (!argGuards) return unguarded;
    let prepared = known.get(argGuards);
    if (!prepared) {
      prepared = prepare(argGuards);
      known.set(argGuards, prepared);
    }
    return prepared;
  };

  return {
    problemOf: (entry) => {
      const prepared = preparedOf(entry);
      return 'problem' in prepared ? prepared.problem : undefined;
    },
    rejectionOf: async (entry, call) => {
      const prepared = preparedOf(entry);
      if ('problem' in prepared) return `No call can be made. ${prepared.problem}`;
      for (const { handler, tools, check } of prepared.guards) {
        if (tools.size > 0 && !tools.has(call.tool.toLowerCase())) continue;
        try {
          const reason = await check(call);
          if (reason !== undefined) return reason;
        } catch (error) {
          return `The argument guard "${handler}" could not check the call: ${messageOf(error)}`;
        }
      }
      return undefined;
    },
  };
};

const unguarded: Prepared = { guards: [] };
