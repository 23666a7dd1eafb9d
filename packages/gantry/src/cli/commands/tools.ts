import { throwIfAborted } from '../../kernel/abort.ts';
import { toolsCall } from '../../operations/tools-call.ts';
import type { Called } from '../../operations/called.ts';
import { toolsFind } from '../../operations/tools-find.ts';
import type { ToolDetails } from '../../operations/tools.ts';
import { toolsList, toolsShow } from '../../operations/tools.ts';
import type { Command } from '../command-context.ts';
import { openGateway } from '../gateway.ts';
import type { Printer } from '../output/printer.ts';
import { createPrinter } from '../output/printer.ts';
import { noteConfigError } from '../output/config-error.ts';
import { toCell } from '../output/printable.ts';

/** `gantry tools list` */
export const listTools: Command<[{ source?: string; all?: boolean }]> = async (context, { source, all }) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context);
  const found = await gateway.run(toolsList, { source, all });
  noteConfigError(found, printer);
  printer.result(found, () =>
    found.tools.length === 0
      ? `There are no tools${source === undefined ? '' : ` of source "${source}"`}.`
      : printer.table(
          ['NAME', 'SOURCE', 'DESCRIPTION'],
          found.tools.map((tool) => [tool.name, tool.source, tool.description]),
        ),
  );
  return 0;
};

/** `gantry tools show NAME` */
export const showTool: Command<[string]> = async (context, name) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, { needs: { tool: name } });
  const tool = await gateway.run(toolsShow, { name });
  printer.result(tool, () => describe(tool, printer));
  return 0;
};

const describe = (tool: ToolDetails, { style, foreign }: Printer): string => {
  const facts = [
    ['source', tool.source],
    ['guide', tool.guide && `${tool.guide} ("gantry guides show ${tool.guide}")`],
    ['server', tool.target && `${tool.target.server}, tool ${tool.target.tool}`],
    ['offered now', tool.available ? 'yes' : 'no'],
  ].filter((fact): fact is [string, string] => typeof fact[1] === 'string' && fact[1] !== '');
  const sections: [string, unknown][] = [
    ['arguments', tool.inputSchema],
    ['result', tool.outputSchema],
    ['hints', tool.annotations],
  ];
  return [
    style('bold', tool.title === undefined ? tool.name : `${tool.name} (${toCell(tool.title)})`),
    ...facts.map(([label, value]) => `${label}: ${toCell(value)}`),
    '',
    foreign(tool.description),
    ...sections.flatMap(([label, value]) =>
      value === undefined ? [] : ['', style('bold', label), foreign(JSON.stringify(value, null, 2))],
    ),
  ].join('\n');
};

/** `gantry tools find QUERY` */
export const findTools: Command<[string, { limit?: number }]> = async (context, query, { limit }) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context);
  const found = await gateway.run(toolsFind, { query, limit });
  printer.result(found, () =>
    found.tools.length === 0
      ? 'No tool of an MCP server fits.'
      : printer.table(
          ['NAME', 'SERVER', 'SCORE', 'DESCRIPTION'],
          found.tools.map((tool) => [tool.name, tool.server, tool.score.toFixed(2), tool.description]),
        ),
  );
  return 0;
};

/** `gantry tools call NAME` */
export const callTool: Command<[string, { args?: string; session?: string; timeout?: number }]> = async (
  context,
  name,
  { args, session, timeout },
) => {
  const printer = createPrinter(context);
  const given = args === '-' ? await readAll(context.io.stdin) : args;
  await using gateway = await openGateway(context, { needs: { tool: name } });
  const called = await gateway.run(
    toolsCall,
    { name, arguments: given, sessionId: session, timeoutMs: timeout },
    {
      onProgress: ({ progress, total, message }) =>
        printer.note(`${progress}${total === undefined ? '' : `/${total}`}${message ? ` ${toCell(message)}` : ''}`),
    },
  );
  // A call that was given up is no result either.
  throwIfAborted(context.io.interrupted);
  // What a tool says about its failure is no result, so a pipe does not get it.
  if (called.isError && !context.flags.json) printer.note(printer.foreign(called.content));
  else printer.result(called, () => inWords(called, printer));
  return called.isError ? 1 : 0;
};

const inWords = ({ content, handle, attachments = [] }: Called, { foreign }: Printer): string => {
  const lines = [foreign(content)];
  for (const { path, mime, size } of attachments)
    if (!content.includes(path)) lines.push(`${toCell(path)} (${toCell(mime)}, ${size} bytes)`);
  if (handle?.kind === 'question')
    lines.push(
      `Answer it yourself: gantry questions answer ${handle.id} --answers '{…}', or gantry questions decline ${handle.id}`,
    );
  if (handle?.kind === 'task') lines.push(`The result comes later; see "gantry tasks list" (${handle.id}).`);
  return lines.join('\n');
};

const readAll = async (input: AsyncIterable<Buffer | string>): Promise<string> => {
  const pieces: Buffer[] = [];
  for await (const piece of input) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
};
