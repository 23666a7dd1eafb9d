import { delay } from '../../kernel/abort.ts';
import { nearest } from '../../kernel/nearest.ts';
import type { CallContext } from '../../tool/context.ts';
import type { Tool } from '../../tool/executor.ts';
import type { WispFailure } from './wisp-failure.ts';
import type { WispPorts } from './wisp-ports.ts';

/** The tool of a server that a step names, or why there is none. */
export type FoundTool =
  | { readonly kind: 'typed'; readonly tool: Tool }
  /** There is no typed tool of that name: the server may know better. */
  | { readonly kind: 'by-name'; readonly server: string; readonly tool: string }
  | { readonly kind: 'none'; readonly failure: WispFailure };

const waitMs = 5_000;
const lookEveryMs = 250;
const byNameTool = 'mcp_invoke_tool';

/**
 * Finds a server's tool by its typed name, or by server and the server's own name; names are looked up, never taken apart. Waits up to 5 s
 * for what is not there yet.
 */
export const findTool = async (
  { callable, toolsOf, clock }: Pick<WispPorts, 'callable' | 'toolsOf' | 'clock'>,
  wanted: { readonly server: string | undefined; readonly tool: string },
  context: CallContext,
): Promise<FoundTool> => {
  const { server, tool } = wanted;
  const look = (): Tool | undefined => {
    const typed = callable.find(tool, context);
    const target = typed?.registration.target;
    if (target && (server === undefined || isSame(target.server, server))) return typed;
    if (server === undefined) return undefined;
    const own = toolsOf(server);
    const match =
      own.find(({ registration }) => registration.target?.tool === tool) ??
      own.find(({ registration }) => isSame(registration.target?.tool ?? '', tool));
    return match && callable.find(match.registration.name, context);
  };
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    const found = look();
    if (found) return { kind: 'typed', tool: found };
    const own = server === undefined ? [] : toolsOf(server);
    // A server that is there and does not offer the tool is not going to.
    if (server !== undefined && own.length > 0) return none(unknownTool(server, tool, own));
    if (waitedMs >= waitMs) break;
    await delay(clock, lookEveryMs, context.signal);
  }
  if (server === undefined)
    return none(
      `There is no tool of a server named "${tool}"; find its name with mcp_find_tools, or give "server" and "tool".`,
    );
  if (callable.find(byNameTool, context)) return { kind: 'by-name', server, tool };
  return {
    kind: 'none',
    failure: { category: 'External', message: 'The tools of servers are not there yet; try again in a moment.' },
  };
};

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const none = (message: string): FoundTool => ({ kind: 'none', failure: { category: 'Structural', message } });

const unknownTool = (server: string, tool: string, own: readonly Tool[]): string => {
  const names = own.map(({ registration }) => registration.target?.tool ?? registration.name);
  const near = nearest(tool, names);
  const shown = near.length > 0 ? `did you mean ${near.join(', ')}?` : `it has ${names.slice(0, 10).join(', ')}.`;
  return `Server "${server}" has no tool "${tool}" that you can call; ${shown}`;
};
