import type { ServerState, ServerStatus } from '../../mcp/wire/server-state.ts';
import type { ServersShowOutput } from '../../operations/servers.ts';
import { serversList, serversRefresh, serversShow } from '../../operations/servers.ts';
import type { Command } from '../command-context.ts';
import { openGateway } from '../gateway.ts';
import { noteConfigError } from '../output/config-error.ts';
import { toCell } from '../output/printable.ts';
import type { Printer, Style } from '../output/printer.ts';
import { createPrinter } from '../output/printer.ts';

/** `gantry servers list` */
export const listServers: Command<[]> = async (context) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context);
  const found = await gateway.run(serversList, {});
  noteConfigError(found, printer);
  printer.result(found, () => statesOf(found.servers, printer));
  return 0;
};

/** `gantry servers show NAME` */
export const showServer: Command<[string]> = async (context, name) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, { needs: { server: name } });
  const found = await gateway.run(serversShow, { name });
  printer.result(found, () => describe(found, printer));
  return 0;
};

/** `gantry servers refresh [NAME]` */
export const refreshServers: Command<[string | undefined]> = async (context, name) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, { needs: 'file' });
  const found = await gateway.run(serversRefresh, { name });
  noteConfigError(found, printer);
  printer.result(found, () => statesOf(found.servers, printer));
  return found.servers.some(({ state }) => down.has(state)) ? 1 : 0;
};

/** States in which a server that should serve does not. */
const down: ReadonlySet<ServerState> = new Set(['unreachable', 'quarantined', 'needs_login', 'refused']);

const styleOf = (state: ServerState): Style => (state === 'connected' ? 'green' : down.has(state) ? 'red' : 'yellow');

const statesOf = (servers: readonly ServerStatus[], printer: Printer): string =>
  servers.length === 0
    ? 'There are no MCP servers. Name them in mcp.json; "gantry init" writes one to start from.'
    : printer.table(
        ['NAME', 'STATE', 'TRANSPORT', 'TOOLS', 'LAST ERROR'],
        servers.map(({ name, state, transport, tools, lastError = '' }) => [
          name,
          state,
          transport,
          String(tools),
          lastError,
        ]),
      );

const describe = ({ server, identity, tools, prompts }: ServersShowOutput, printer: Printer): string => {
  const facts: (readonly [string, string | null | undefined])[] = [
    ['state', printer.style(styleOf(server.state), server.state)],
    ['last error', server.lastError && toCell(server.lastError)],
    ['id', server.id],
    ['origin', server.origin],
    ['transport', server.transport],
    ['protocol', server.protocolVersion],
    ['implementation', identity && toCell([identity.implementationName, identity.version].filter(Boolean).join(' '))],
    ['fingerprint', server.fingerprint],
    ['surface', `${server.tools} tools, ${server.prompts} prompts, ${server.resources} resources`],
  ];
  const blocks = [
    printer.style('bold', toCell(server.name)),
    ...facts.flatMap(([label, value]) => (value ? [`${label}: ${value}`] : [])),
  ];
  if (identity?.instructions)
    blocks.push('', printer.style('bold', 'instructions'), printer.foreign(identity.instructions));
  if (tools.length > 0)
    blocks.push(
      '',
      printer.table(
        ['TOOL', 'DESCRIPTION'],
        tools.map((tool) => [tool.name, tool.description ?? tool.title ?? '']),
      ),
    );
  if (prompts.length > 0)
    blocks.push(
      '',
      printer.table(
        ['PROMPT', 'DESCRIPTION'],
        prompts.map((prompt) => [prompt.name, prompt.description ?? prompt.title ?? '']),
      ),
    );
  return blocks.join('\n');
};
