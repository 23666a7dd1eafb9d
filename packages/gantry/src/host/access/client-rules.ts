import type { WrapperMode } from '../../tool/context.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import { managementSource } from '../../mcp/tools/management/management-tool.ts';
import type { KnowsServer } from '../../mcp/tools/knows-server.ts';
import { typedNameStart } from '../../schema/tool-name.ts';
import type { AvailabilityCheck } from '../../toolset/availability.ts';

/** What one client of `/mcp` may do. Everything that is absent is not restricted. */
export interface ClientRule {
  /** Servers that are there for it, by name in any case. */
  readonly servers?: readonly string[] | undefined;
  /**
   * Tools it sees, by the name that it would call (`wiki__search`), exactly; `*` stands for any characters. A server that none of them can be
   * of is not there.
   */
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
  /** Whether a client may reach a server at all: its rule names it, and its tools can be of it. */
  allowsServer(client: string | undefined, server: string): boolean;
  /** Whether the rule of a client has a tool by its very name among its tools, and does not choose among servers. */
  grants(client: string | undefined, name: string): boolean;
}

const unrestricted: ClientRule = {};

/** Names of tokens are in any case; those that an authorization server gives are as it writes them. */
const folded = (name: string): string => (name.startsWith('oauth:') ? name : name.toLowerCase());

// What changes the servers of everybody.
const serverEdits: ReadonlySet<string> = new Set(['mcp_register_server', 'mcp_unregister_server']);
// Its keys cannot be guessed: whoever has one was given it with a result of its own.
const retrieval = 'get_from_working_memory';

/** Reads the rules. */
export const compileRules = (rules: ClientRules): CompiledRules => {
  const byName = new Map(Object.entries(rules).map(([name, rule]) => [folded(name), compile(rule)]));
  const everybody = byName.get('*') ?? compile(unrestricted);
  /** A rule for an application of OAuth holds for every person who uses it, unless that person has one. */
  const compiledOf = (client: string | undefined): Compiled => {
    if (client === undefined) return everybody;
    const application = /^(oauth:[^#]+)#/.exec(client)?.[1];
    return byName.get(folded(client)) ?? (application === undefined ? undefined : byName.get(application)) ?? everybody;
  };
  const allowsServer = (client: string | undefined, server: string): boolean => {
    const { servers, rule } = compiledOf(client);
    return (servers?.has(server.toLowerCase()) ?? true) && (rule.tools?.some((glob) => canBeOf(server, glob)) ?? true);
  };
  return {
    of: (client) => compiledOf(client).rule,
    allowsServer,
    grants: (client, name) => {
      const { servers, tools } = compiledOf(client).rule;
      return servers === undefined && tools?.includes(name) === true;
    },
    restrictsTools: (client) => compiledOf(client).tools !== undefined,
    allows: (client, server, name) =>
      (server === undefined || allowsServer(client, server)) && (compiledOf(client).tools?.test(name) ?? true),
  };
};

/** The check of the rules beside what is exposed at all; it is the same for lists, searches and calls. */
export const withRules =
  (exposes: AvailabilityCheck, rules: CompiledRules): AvailabilityCheck =>
  (registration, context) => {
    const { caller, client } = context;
    const { name } = registration;
    const isExposed = exposes(registration, context);
    if (caller !== 'client') return isExposed;
    if (serverEdits.has(name) && registration.source === managementSource)
      return (
        rules.grants(client, name) ||
        (isExposed && rules.of(client).servers === undefined && rules.allows(client, undefined, name))
      );
    return isExposed && (name === retrieval || rules.allows(client, serverOf(registration), name));
  };

/** Whether a caller may know that a server is there, for the tools that name servers in their arguments. */
export const knowsServers =
  (rules: CompiledRules): KnowsServer =>
  ({ caller, client }, server) =>
    caller !== 'client' || rules.allowsServer(client, server);

const serverOf = ({ target, promptOf }: ToolRegistration): string | undefined => target?.server ?? promptOf?.server;

interface Compiled {
  readonly rule: ClientRule;
  readonly servers: ReadonlySet<string> | undefined;
  readonly tools: RegExp | undefined;
}

const compile = (rule: ClientRule): Compiled => ({
  rule,
  servers: rule.servers && new Set(rule.servers.map((server) => server.toLowerCase())),
  tools: rule.tools && new RegExp(`^(?:${rule.tools.map(toPattern).join('|') || '(?!)'})$`),
});

/** Whether a pattern can match the name of any tool or prompt of a server, whose name is in any case. */
const canBeOf = (server: string, glob: string): boolean => {
  const prefix = typedNameStart(server).toLowerCase();
  const [start = '', ...rest] = glob.toLowerCase().split('*');
  return start.startsWith(prefix) || (rest.length > 0 && prefix.startsWith(start));
};

const toPattern = (glob: string): string =>
  glob
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('.*');
