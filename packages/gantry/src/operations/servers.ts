import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import { nearest } from '../kernel/nearest.ts';
import type { DownstreamPrompt, DownstreamTool, ServerIdentity } from '../mcp/wire/manage-messages.ts';
import type { ServerStatus } from '../mcp/wire/server-state.ts';
import { toolFamilies } from '../tool/tool-family.ts';
import type { NoInput, Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import type { ServersPort } from './operation-deps.ts';

/** The servers and how they stand. */
export interface ServersListOutput {
  readonly servers: readonly ServerStatus[];
  /** What is wrong with the file of servers; those that ran before go on. */
  readonly configError?: string | undefined;
}

/** One server; identity, tools and prompts are those of the last time it was connected. */
export interface ServersShowOutput {
  readonly server: ServerStatus;
  readonly identity: ServerIdentity | null;
  readonly tools: readonly DownstreamTool[];
  readonly prompts: readonly DownstreamPrompt[];
}

/** The schema of a {@link ServerStatus}. */
export const serverStatusSchema: z.ZodType<ServerStatus> = z.strictObject({
  name: z.string(),
  id: z.string(),
  state: z.enum([
    'idle',
    'connecting',
    'connected',
    'unreachable',
    'quarantined',
    'needs_login',
    'refused',
    'skipped',
    'disabled',
  ]),
  transport: z.enum(['streamable-http', 'sse', 'stdio', 'auto']),
  protocolVersion: z.string().nullable(),
  tools: z.number().describe('How many tools it offers.'),
  prompts: z.number(),
  resources: z.number(),
  fingerprint: z.string().nullable().describe('SHA-256 of everything it offers.'),
  family: z.enum(toolFamilies).optional().describe('Which bundled tool its tools take the place of.'),
  origin: z.enum(['operator', 'agent']),
  lastError: z.string().optional(),
});

const identitySchema: z.ZodType<ServerIdentity> = z.object({
  name: z.string(),
  id: z.string(),
  implementationName: z.string().optional(),
  title: z.string().optional(),
  version: z.string().optional(),
  description: z.string().optional(),
  instructions: z.string().optional(),
});

const listSchema: z.ZodType<ServersListOutput> = z.strictObject({
  servers: z.array(serverStatusSchema),
  configError: z
    .string()
    .optional()
    .describe('What is wrong with the file of servers, with line and column; those that ran before go on.'),
});

/** `servers.list` */
export const serversList: Operation<NoInput, ServersListOutput> = defineOperation({
  name: 'servers.list',
  summary: 'Lists the MCP servers and how they stand.',
  method: 'GET',
  path: '/servers',
  input: z.strictObject({}),
  output: listSchema,
  handler: (_input, { servers }) => ({ servers: servers?.list() ?? [], configError: servers?.configError?.() }),
});

/** `servers.show` */
export const serversShow: Operation<{ readonly name: string }, ServersShowOutput> = defineOperation({
  name: 'servers.show',
  summary: 'Shows an MCP server: state, identity, tools and prompts.',
  method: 'GET',
  path: '/servers/{name}',
  input: z.strictObject({ name: z.string().min(1) }),
  output: z.strictObject({
    server: serverStatusSchema,
    identity: identitySchema.nullable().describe('What the server says of itself; null while that is not known.'),
    tools: z.array(z.looseObject({ name: z.string() })) as unknown as z.ZodType<readonly DownstreamTool[]>,
    prompts: z.array(z.looseObject({ name: z.string() })) as unknown as z.ZodType<readonly DownstreamPrompt[]>,
  }),
  handler: async ({ name }, { servers }) => {
    const server = statusOf(name, servers);
    const details = await servers?.details(name);
    return {
      server,
      identity: details?.server ?? null,
      tools: details?.tools ?? [],
      prompts: details?.prompts ?? [],
    };
  },
});

/** `servers.refresh` */
export const serversRefresh: Operation<{ readonly name?: string | undefined }, ServersListOutput> = defineOperation({
  name: 'servers.refresh',
  summary: 'Connects to one MCP server or all of them again, lists their tools anew and gives their states.',
  method: 'POST',
  path: '/servers/refresh',
  input: z.strictObject({ name: z.string().min(1).optional().describe('Default all servers.') }),
  output: listSchema,
  handler: async ({ name }, { servers }) => {
    if (name !== undefined) statusOf(name, servers);
    await servers?.refresh(name);
    return {
      servers: name === undefined ? (servers?.list() ?? []) : [statusOf(name, servers)],
      configError: servers?.configError?.(),
    };
  },
});

const statusOf = (name: string, servers: ServersPort | undefined): ServerStatus => {
  const all = servers?.list() ?? [];
  const found = all.find((server) => server.name === name);
  if (found) return found;
  const known = all.map((server) => server.name);
  const [near] = nearest(name, known);
  const hint =
    near !== undefined
      ? `did you mean "${near}"?`
      : known.length > 0
        ? `known: ${known.join(', ')}.`
        : 'none is configured; add it to mcp.json.';
  throw new GantryError('server_unknown', `There is no server named "${name.slice(0, 100)}"; ${hint}`, {
    details: { name, known },
  });
};
