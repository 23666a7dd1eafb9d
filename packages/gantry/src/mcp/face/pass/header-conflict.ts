import { isObject } from '../../../kernel/json.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { decodedHeader } from '../../wire/header-value.ts';
import type { PassTarget } from '../../wire/pass-port.ts';

// MCP 2026-07-28, "Standard request headers" (SEP-2243), and the tasks extension (SEP-2663).
const nameKeys: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

const parameter = 'mcp-param-';

/**
 * How the headers of a message contradict its body; undefined when they do not. Policy judges the body, so a server that goes by headers
 * must find the same there.
 */
export const headerConflict = (
  headers: Readonly<Record<string, string>>,
  message: Readonly<Record<string, unknown>>,
  target: Pick<PassTarget, 'parameterHeaders' | 'hasGuards'>,
): string | undefined => {
  const { 'mcp-method': saidMethod, 'mcp-name': saidName } = headers;
  const method = typeof message['method'] === 'string' ? message['method'] : '';
  if (saidMethod !== undefined && saidMethod !== method) return 'Mcp-Method names another method than the body.';
  const params = isObject(message['params']) ? message['params'] : {};
  const key = Object.hasOwn(nameKeys, method) ? nameKeys[method] : undefined;
  if (saidName !== undefined && key !== undefined && decodedHeader(saidName) !== params[key])
    return `Mcp-Name names another ${key} than the body.`;
  // Nothing but guards judges arguments.
  if (!target.hasGuards) return undefined;
  const saidParameters = Object.keys(headers).filter((name) => name.startsWith(parameter));
  if (saidParameters.length === 0) return undefined;
  const args = isObject(params['arguments']) ? (params['arguments'] as JsonObject) : {};
  const tool = typeof params['name'] === 'string' ? params['name'] : '';
  const known = target.parameterHeaders(tool, args);
  const texts = textsIn(args);
  for (const name of saidParameters) {
    const text = decodedHeader(headers[name] ?? '');
    const wanted = known[name];
    // Which argument a header of a schema that has changed stands for is not known; it is one of them.
    const holds = text !== undefined && (wanted === undefined ? texts.has(text) : text === decodedHeader(wanted));
    if (!holds) return `${name} has another value than the body.`;
  }
  return undefined;
};

/** Every single value among the arguments, as a header says it. */
const textsIn = (args: JsonObject): ReadonlySet<string> => {
  const texts = new Set<string>();
  const open: unknown[] = [args];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'object' && next !== null) open.push(...Object.values(next));
    else texts.add(String(next));
  }
  return texts;
};
