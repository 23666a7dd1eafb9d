import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import { nearest } from '../../../kernel/nearest.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import type { ManagedServer, Snapshot } from '../server/managed-server.ts';

/** A tool that may be called, or the outcome of a call to one that may not. */
export type FoundTool = { readonly tool: DownstreamTool } | { readonly outcome: Outcome };

/** Finds a server's tool by its name, exactly or else in another case; only tools that its filters let through are ever found or named. */
export const findTool = async (
  server: ManagedServer,
  snapshot: Snapshot,
  toolName: string,
  options: { log: Log; signal: AbortSignal },
): Promise<FoundTool> => {
  const known = toolNamed(snapshot.surface.tools, toolName);
  if (known) return { tool: known };
  // A tool may have come since; what the server cannot confirm is not called.
  let listed = snapshot.surface.tools;
  try {
    listed = await server.listToolsNow(snapshot, options.signal);
  } catch (error) {
    options.log.debug(
      { server: server.name, reason: server.maskSecrets(messageOf(error)) },
      'the tools could not be listed again',
    );
  }
  const tool = listed === snapshot.surface.tools ? undefined : toolNamed(listed, toolName);
  return tool ? { tool } : { outcome: toolNotFound(server.name, toolName, listed) };
};

/** The tool of that name, exactly or else in another case. */
export const toolNamed = (tools: readonly DownstreamTool[], name: string): DownstreamTool | undefined => {
  const exact = tools.find((tool) => tool.name === name);
  if (exact) return exact;
  const folded = name.toLowerCase();
  return tools.find((tool) => tool.name.toLowerCase() === folded);
};

const shownNames = 30;

const toolNotFound = (server: string, toolName: string, tools: readonly DownstreamTool[]): Outcome => {
  const asked = flattenText(toolName, { maxChars: 100 });
  const suffix = toolName.includes('__') ? toolName.slice(toolName.indexOf('__') + 2) : undefined;
  const combined = suffix === undefined ? undefined : toolNamed(tools, suffix);
  if (combined)
    return failedOutcome(
      'tool_not_found',
      `Server "${server}" has no tool "${asked}", but it has "${combined.name}": pass server_name "${server}" and tool_name "${combined.name}" separately.`,
    );
  if (tools.length === 0)
    return failedOutcome(
      'tool_not_found',
      `Server "${server}" has no tool "${asked}"; it offers no tools that can be called.`,
    );
  const names = tools.map((tool) => tool.name).toSorted();
  const near = nearest(toolName, names);
  const shown = names.slice(0, shownNames).map((name) => flattenText(name, { maxChars: 100 }));
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : '';
  const hint = near.length > 0 ? ` Did you mean ${near.map((name) => `"${flattenText(name)}"`).join(' or ')}?` : '';
  return failedOutcome(
    'tool_not_found',
    `Server "${server}" has no tool "${asked}".${hint} Its tools: ${shown.join(', ')}${more}.`,
  );
};
