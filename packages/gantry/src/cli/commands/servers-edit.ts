import { GantryError } from '../../kernel/errors.ts';
import { orAborted } from '../../kernel/abort.ts';
import type { ServerStatus } from '../../mcp/wire/server-state.ts';
import {
  serversAdd,
  serversDisable,
  serversEnable,
  serversLoginFinish,
  serversLoginStart,
  serversRemove,
} from '../../operations/servers-edit.ts';
import { serversShow } from '../../operations/servers.ts';
import type { Command, CommandContext, ExitCode } from '../command-context.ts';
import type { Gateway } from '../gateway.ts';
import { openGateway } from '../gateway.ts';
import { toCell } from '../output/printable.ts';
import type { ToolFamily } from '../../tool/tool-family.ts';
import { createPrinter } from '../output/printer.ts';
import { listenForSignIn } from '../sign-in-callback.ts';
import { tellPerson } from '../output/tell-person.ts';

/** How `servers add` is told about the server. */
export interface AddFlags {
  readonly url?: string | undefined;
  readonly header?: readonly string[] | undefined;
  readonly family?: ToolFamily | undefined;
}

/**
 * `gantry servers add NAME --url URL [--header K=V]…` or `add NAME -- COMMAND ARGS…`, both with `[--family FAMILY]`. Here `--url` is the server's address, so the gateway
 * to ask is named by `GANTRY_URL` only.
 */
export const addServer: Command<[string, readonly string[], AddFlags]> = async (context, name, words, flags) => {
  const [command, ...args] = words;
  const { url: globalUrl, ...globals } = context.flags;
  const url = flags.url ?? globalUrl;
  const headers = (flags.header ?? []).map(toHeader);
  if ((url === undefined) === (command === undefined))
    throw usage('Give either "--url URL" or, after "--", the program and its arguments.');
  if (command !== undefined && headers.length > 0) throw usage('"--header" goes with "--url" only.');
  await using gateway = await openGateway({ ...context, flags: globals }, { needs: 'none', mayMakeMcpFile: true });
  const { server } = await gateway.run(serversAdd, {
    name,
    url,
    headers: headers.length > 0 ? Object.fromEntries(headers) : undefined,
    command,
    args: args.length > 0 ? args : undefined,
    family: flags.family,
  });
  return told(context, server, 'added');
};

/** `gantry servers remove NAME` */
export const removeServer: Command<[string]> = async (context, name) => {
  await using gateway = await openQuietly(context);
  const removed = await gateway.run(serversRemove, { name });
  createPrinter(context).result(removed, () => `Server "${toCell(removed.removed)}" is removed.`);
  return 0;
};

/** `gantry servers enable NAME` */
export const enableServer: Command<[string]> = async (context, name) => {
  await using gateway = await openQuietly(context);
  const { server } = await gateway.run(serversEnable, { name });
  return told(context, server, 'enabled');
};

/** `gantry servers disable NAME` */
export const disableServer: Command<[string]> = async (context, name) => {
  await using gateway = await openQuietly(context);
  const { server } = await gateway.run(serversDisable, { name });
  createPrinter(context).result({ server }, () => `Server "${toCell(server.name)}" is disabled.`);
  return 0;
};

/** `gantry servers login NAME [--port PORT]`: prints where to go, opens nothing, and waits for the browser to come back. */
export const loginServer: Command<[string, { readonly port?: number | undefined }]> = async (
  context,
  name,
  { port = 0 },
) => {
  const { io } = context;
  await using gateway = await openQuietly(context);
  await using callback = await listenForSignIn(port);
  const { authorizationUrl, state } = await gateway.run(serversLoginStart, { name, redirectUrl: callback.url });
  if (authorizationUrl === null || state === null) {
    const { server } = await gateway.run(serversShow, { name });
    return told(context, server, 'signed in');
  }
  tellPerson(io, `To sign in to server "${name}", open\n\n  ${authorizationUrl}\n\nWaiting for the answer …`);
  const answer = await orAborted(callback.answerTo(state), io.interrupted);
  const { server } = await gateway.run(serversLoginFinish, answer);
  return told(context, server, 'signed in');
};

// Other servers are not waited for: the change does not concern them.
const openQuietly = (context: CommandContext): Promise<Gateway> => openGateway(context, { needs: 'none' });

/** Prints how the server stands after a change; one that is not there afterwards is a failure. */
const told = (context: CommandContext, server: ServerStatus, what: string): ExitCode => {
  const { name, state, tools, lastError } = server;
  const works = state === 'connected' || state === 'idle';
  createPrinter(context).result({ server }, () =>
    works
      ? `Server "${toCell(name)}" is ${what}: ${state}, ${tools} tool${tools === 1 ? '' : 's'}.`
      : `Server "${toCell(name)}" is ${what}, but it is ${state}. ${toCell(lastError ?? '')}`.trimEnd(),
  );
  return works ? 0 : 1;
};

const toHeader = (text: string): readonly [string, string] => {
  const cut = text.search(/[=:]/);
  if (cut > 0) return [text.slice(0, cut).trim(), text.slice(cut + 1).trim()];
  throw usage(`"--header ${text.slice(0, 20)}" is no header; write NAME=VALUE.`);
};

const usage = (message: string): GantryError => new GantryError('usage', message);
