import type { WrapperMode } from '../../tool/context.ts';
import type { AvailabilityCheck } from '../../toolset/availability.ts';

/** What one client of `/mcp` may do. Everything that is absent is not restricted. */
export interface ClientRule {
  /** Servers whose tools it sees, by name in any case. */
  readonly servers?: readonly string[] | undefined;
  /** Tools it sees, by the name that it would call (`wiki__search`); `*` stands for any characters. */
  readonly tools?: readonly string[] | undefined;
  readonly mode?: WrapperMode | undefined;
  /** Calls in a minute. */
  readonly callsPerMinute?: number | undefined;
  /** Calls that run at the same time. */
  readonly maxConcurrentCalls?: number | undefined;
  /** It reads and writes the shared folder too, so paths mean something to it. */
  readonly sharesFolder?: boolean | undefined;
  /** `as-is`: long results are not split. Default `chunked`. */
  readonly results?: 'chunked' | 'as-is' | undefined;
}

/** Rules by the name of the client's token; `*` is for all that have none of their own. */
export type ClientRules = Readonly<Record<string, ClientRule>>;

/** What the rules say, ready to be asked. */
export interface CompiledRules {
  of(client: string | undefined): ClientRule;
  /** Whether a client may see and call a tool of a server, or one of Gantry's own (`server` undefined). */
  allows(client: string | undefined, server: string | undefined, name: string): boolean;
  /** Whether the rule of a client chooses among tools. */
  restrictsTools(client: string | undefined): boolean;
  /** Whether a client may reach a server at all. */
  allowsServer(client: string | undefined, server: string): boolean;
}

const unrestricted: ClientRule = {};

/** Reads the rules. */
export const compileRules = (rules: ClientRules): CompiledRules => {
  const byName = new Map(Object.entries(rules).map(([name, rule]) => [name.toLowerCase(), compile(rule)]));
  const everybody = byName.get('*') ?? compile(unrestricted);
  /** A rule for an application of OAuth holds for every person who uses it, unless that person has one. */
  const compiledOf = (client: string | undefined): Compiled => {
    if (client === undefined) return everybody;
    const name = client.toLowerCase();
    return byName.get(name) ?? byName.get(/^(oauth:[^#]*)#/.exec(name)?.[1] ?? '') ?? everybody;
  };
  const allowsServer = (client: string | undefined, server: string): boolean =>
    compiledOf(client).servers?.has(server.toLowerCase()) ?? true;
  return {
    of: (client) => compiledOf(client).rule,
    allowsServer,
    restrictsTools: (client) => compiledOf(client).tools !== undefined,
    allows: (client, server, name) =>
      (server === undefined || allowsServer(client, server)) && (compiledOf(client).tools?.test(name) ?? true),
  };
};

/** The check of the rules beside what is exposed at all; it is the same for lists, searches and calls. */
export const withRules =
  (exposes: AvailabilityCheck, rules: CompiledRules): AvailabilityCheck =>
  (registration, context) =>
    exposes(registration, context) &&
    (context.caller !== 'client' || rules.allows(context.client, registration.target?.server, registration.name));

interface Compiled {
  readonly rule: ClientRule;
  readonly servers: ReadonlySet<string> | undefined;
  readonly tools: RegExp | undefined;
}

const compile = (rule: ClientRule): Compiled => ({
  rule,
  servers: rule.servers && new Set(rule.servers.map((server) => server.toLowerCase())),
  tools: rule.tools && new RegExp(`^(?:${rule.tools.map(toPattern).join('|') || '(?!)'})$`, 'i'),
});

const toPattern = (glob: string): string =>
  glob
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('.*');
