import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { schemaProblem } from '../../../schema/schema-problem.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import { headerProblem } from './mirrored-headers.ts';

/** The tools of a list that can be used, and what was left out. */
export interface ReadTools {
  readonly tools: readonly DownstreamTool[];
  /** One sentence per tool, and per member of a tool, that was left out. */
  readonly leftOut: readonly string[];
}

/**
 * Takes from a listing what is a tool: bad ones are left out one by one and never cost the others, and so are members of a tool that are
 * not what they should be. The rest stays as the server wrote it, members that nobody knows included.
 */
export const readTools = (
  listed: readonly unknown[],
  {
    sendsHeaders = false,
  }: { /** Arguments travel in headers where a schema says so. */ readonly sendsHeaders?: boolean } = {},
): ReadTools => {
  const tools = new Map<string, DownstreamTool>();
  const leftOut: string[] = [];
  for (const item of listed) {
    const name = isObject(item) ? item['name'] : undefined;
    if (typeof name !== 'string' || name === '') {
      leftOut.push('A tool without a name was left out.');
      continue;
    }
    if (tools.has(name)) {
      leftOut.push(`Tool "${shown(name)}" is listed twice; the duplicate was left out.`);
      continue;
    }
    const { inputSchema } = item as { inputSchema?: unknown };
    const problem = schemaProblem(inputSchema) ?? (sendsHeaders ? headerProblem(inputSchema) : undefined);
    if (problem === undefined) tools.set(name, withUsableMembers(item as Readonly<Record<string, unknown>>, leftOut));
    else leftOut.push(`Tool "${shown(name)}" was left out: its input schema is unusable (${flattenText(problem)}).`);
  }
  return { tools: [...tools.values()], leftOut };
};

const isText = (value: unknown): boolean => typeof value === 'string';
const memberChecks: readonly (readonly [name: string, isUsable: (value: unknown) => boolean])[] = [
  ['title', isText],
  ['description', isText],
  ['outputSchema', (value) => isObject(value) && schemaProblem(value) === undefined],
  [
    'annotations',
    (value) =>
      isObject(value) &&
      Object.entries(value).every(([key, hint]) =>
        key === 'title' ? isText(hint) : !key.endsWith('Hint') || typeof hint === 'boolean',
      ),
  ],
  ['icons', (value) => Array.isArray(value) && value.every(isObject)],
  ['_meta', isObject],
];

const withUsableMembers = (item: Readonly<Record<string, unknown>>, leftOut: string[]): DownstreamTool => {
  const bad = memberChecks.filter(([key, isUsable]) => item[key] !== undefined && !isUsable(item[key]));
  if (bad.length === 0) return item as unknown as DownstreamTool;
  const keys = new Set(bad.map(([key]) => key));
  // Several servers write null for what is not there.
  for (const key of keys)
    if (item[key] !== null)
      leftOut.push(`The ${key} of tool "${shown(String(item['name']))}" is unusable and was left out.`);
  return Object.fromEntries(Object.entries(item).filter(([key]) => !keys.has(key))) as unknown as DownstreamTool;
};

/** Writes what was left out to the log, once per listing. */
export const reportLeftOut = (log: Log, server: string, leftOut: readonly string[]): void => {
  if (leftOut.length === 0) return;
  log.warn({ server, leftOut: leftOut.slice(0, 50) }, `Server "${server}": ${leftOut.slice(0, 3).join(' ')}`);
};

const shown = (name: string): string => flattenText(name, { maxChars: 100 });
