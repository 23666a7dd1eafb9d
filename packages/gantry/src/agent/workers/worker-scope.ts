import { GantryError } from '../../kernel/errors.ts';
import { nearest } from '../../kernel/nearest.ts';
import { flattenText } from '../../text/flatten.ts';
import type { CallableTools } from '../../tool/callable-tools.ts';
import type { CallContext } from '../../tool/context.ts';
import type { Tool } from '../../tool/executor.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import { reportSource } from '../report-tool.ts';
import { matchesGlob } from './match-glob.ts';

/** Where tools of servers come from. */
export interface WorkerTools {
  readonly callable: Pick<CallableTools, 'for' | 'find'>;
  readonly servers: () => readonly string[];
  /** The typed tools of a server; none when it is not connected. */
  readonly toolsOf: (server: string) => readonly Tool[];
}

const ownSources: ReadonlySet<string> = new Set(['memory', 'files', reportSource]);
/** Answers what its own calls were asked; it calls nothing else. */
const answerTool = 'mcp_answer';
const withheld: ReadonlySet<string> = new Set(['mcp_register_server', 'mcp_unregister_server']);

/** Whether a worker without a list of its own is given the tool: servers', pipelines, its memory and files. It delegates no further. */
export const mayWorkWith = ({ name, source }: ToolRegistration): boolean =>
  !withheld.has(name) && (ownSources.has(source) || source === 'wisp' || source.startsWith('mcp:'));

/**
 * The names of the only tools of a worker that has a list: those of servers that a pattern of it names, its memory and its files. Neither the
 * tools that find and call others by name are among them nor pipelines, which would lead around the list.
 * @throws {GantryError} `invalid_arguments` when a pattern names no tool that the caller may call.
 */
export const scopeOf = (
  patterns: readonly string[],
  { callable, servers, toolsOf }: WorkerTools,
  context: CallContext,
): readonly string[] => {
  const typed = servers().flatMap((server) =>
    toolsOf(server).flatMap(({ registration: { name, target } }) =>
      target && callable.find(name, context) ? [{ name, path: `${target.server}.${target.tool}` }] : [],
    ),
  );
  const names = new Set<string>();
  const unmatched: string[] = [];
  for (const pattern of patterns) {
    const matching = typed.filter(({ path, name }) => matchesGlob(pattern, path) || name === pattern);
    if (matching.length === 0) unmatched.push(pattern);
    for (const { name } of matching) names.add(name);
  }
  if (unmatched.length > 0)
    throw noSuchTools(
      unmatched,
      typed.map(({ path }) => path),
      servers(),
    );
  for (const { name, source } of callable.for(context).tools)
    if (ownSources.has(source) || name === answerTool) names.add(name);
  return [...names];
};

const noSuchTools = (
  unmatched: readonly string[],
  paths: readonly string[],
  servers: readonly string[],
): GantryError => {
  const told = unmatched.map((pattern) => {
    const near = nearest(pattern, paths);
    return `"${flattenText(pattern)}"${near.length === 0 ? '' : ` (did you mean ${near.join(', ')}?)`}`;
  });
  const known = servers.length === 0 ? 'no server is connected' : `connected: ${servers.slice(0, 20).join(', ')}`;
  return new GantryError(
    'invalid_arguments',
    `"tools_allow" names no tool of a server that can be called: ${told.join(', ')}. It takes {server}.{tool}, with "*" for any characters; ${known}.`,
  );
};
