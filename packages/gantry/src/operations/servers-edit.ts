import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import type { ServerStatus } from '../mcp/wire/server-state.ts';
import type { ToolFamily } from '../tool/tool-family.ts';
import { toolFamilies } from '../tool/tool-family.ts';
import type { Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import type { OperationDeps, ServerEditsPort } from './operation-deps.ts';
import { serverStatusSchema } from './servers.ts';

/** A new server: an address, or a program. */
export interface ServersAddInput {
  readonly name: string;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly family?: ToolFamily | undefined;
}

/** A server as it stands after a change. */
export interface ServersChanged {
  readonly server: ServerStatus;
}

/** The input of an operation on one server. */
export interface ServerNamed {
  readonly name: string;
}

const name = z.string().min(1).describe('Name of the server.');
const changed = z.strictObject({ server: serverStatusSchema });
const texts = z.record(z.string(), z.string());

/** `servers.add` */
export const serversAdd: Operation<ServersAddInput, ServersChanged> = defineOperation({
  name: 'servers.add',
  summary: 'Adds an MCP server to the file of servers and connects it.',
  method: 'POST',
  path: '/servers',
  input: z.strictObject({
    name,
    url: z.string().min(1).optional().describe('Address of an HTTP server.'),
    headers: texts.optional().describe('HTTP headers; ${NAME} stands for an environment variable.'),
    command: z.string().min(1).optional().describe('Program of a stdio server.'),
    args: z.array(z.string()).optional(),
    env: texts.optional().describe('Environment of the program.'),
    cwd: z.string().min(1).optional().describe('Working folder of the program.'),
    family: z
      .enum(toolFamilies)
      .optional()
      .describe('Its tools take the place of the bundled fetch_url or web_search.'),
  }),
  output: changed,
  handler: async ({ name: wanted, ...entry }, deps) => {
    if ((entry.url === undefined) === (entry.command === undefined))
      throw new GantryError(
        'invalid_arguments',
        'Give either the address of the server ("url") or its program ("command").',
      );
    const given = Object.entries(entry).filter(([, value]) => value !== undefined);
    return { server: await editsOf(deps).add(wanted, Object.fromEntries(given)) };
  },
});

/** `servers.remove` */
export const serversRemove: Operation<ServerNamed, { readonly removed: string }> = defineOperation({
  name: 'servers.remove',
  summary: 'Removes an MCP server from the file of servers and ends its connection.',
  method: 'POST',
  path: '/servers/{name}/remove',
  input: z.strictObject({ name }),
  output: z.strictObject({ removed: z.string() }),
  handler: async ({ name: wanted }, deps) => {
    await editsOf(deps).remove(wanted);
    return { removed: wanted };
  },
});

const switchOperation = (verb: 'enable' | 'disable', summary: string): Operation<ServerNamed, ServersChanged> =>
  defineOperation({
    name: `servers.${verb}`,
    summary,
    method: 'POST',
    path: `/servers/{name}/${verb}`,
    input: z.strictObject({ name }),
    output: changed,
    handler: async ({ name: wanted }, deps) => ({
      server: await editsOf(deps).setEnabled(wanted, verb === 'enable'),
    }),
  });

/** `servers.enable` */
export const serversEnable: Operation<ServerNamed, ServersChanged> = switchOperation(
  'enable',
  'Switches an MCP server on in the file of servers and connects it.',
);

/** `servers.disable` */
export const serversDisable: Operation<ServerNamed, ServersChanged> = switchOperation(
  'disable',
  'Switches an MCP server off in the file of servers; its entry stays.',
);

/** Where a person goes to sign in; null when the server needs nobody for that and the sign-in is done. */
export interface ServersLoginStarted {
  readonly authorizationUrl: string | null;
  readonly state: string | null;
}

/** `servers.login.start` */
export const serversLoginStart: Operation<ServerNamed & { readonly redirectUrl: string }, ServersLoginStarted> =
  defineOperation({
    name: 'servers.login.start',
    summary: 'Begins to sign in to an MCP server (OAuth with PKCE) and gives the address where a person goes on.',
    method: 'POST',
    path: '/servers/{name}/login',
    input: z.strictObject({
      name,
      redirectUrl: z.string().min(1).describe('Where the answer comes back to: an address of the own machine.'),
    }),
    output: z.strictObject({ authorizationUrl: z.string().nullable(), state: z.string().nullable() }),
    handler: ({ name: wanted, redirectUrl }, deps) => editsOf(deps).startSignIn(wanted, redirectUrl),
  });

/** What came back from a sign-in. */
export interface ServersLoginAnswer {
  readonly state: string;
  readonly code: string;
  readonly iss?: string | undefined;
}

/** `servers.login.finish` */
export const serversLoginFinish: Operation<ServersLoginAnswer, ServersChanged> = defineOperation({
  name: 'servers.login.finish',
  summary: 'Finishes a sign-in with what came back, and connects the server.',
  method: 'POST',
  path: '/servers/login/finish',
  input: z.strictObject({
    state: z.string().min(1),
    code: z.string().min(1),
    iss: z.string().optional().describe('RFC 9207.'),
  }),
  output: changed,
  handler: async (answer, deps) => ({ server: await editsOf(deps).finishSignIn(answer) }),
});

const editsOf = ({ serverEdits }: OperationDeps): ServerEditsPort => {
  if (serverEdits) return serverEdits;
  throw new GantryError('server_unknown', 'No MCP servers are in use here, so there is nothing to change.', {
    details: { known: [] },
  });
};
