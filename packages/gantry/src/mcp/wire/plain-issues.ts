import { isObject, parseJson } from '../../kernel/json.ts';

/**
 * An error message of the MCP SDK in plain words. The SDK gives the findings of its schema check as a page of JSON; the first three are
 * kept, each with the place it is about. Other messages stay as they are.
 */
export const withPlainIssues = (message: string): string => {
  const at = message.search(/\[\s*\{\s*"/);
  const dump = at === -1 ? undefined : parseJson(message.slice(at));
  if (!dump?.ok || !Array.isArray(dump.value)) return message;
  const issues = dump.value as unknown[];
  if (!issues.every(isIssue)) return message;
  const found = issues.slice(0, 3).map(({ path, message: what, code }) => {
    // The findings for every form that it might have had say nothing.
    if (path.length === 0) return code === 'invalid_union' ? 'it does not have a form that MCP knows' : what;
    return `${path.map(String).join('.')}: ${what.charAt(0).toLowerCase()}${what.slice(1)}`;
  });
  return message.slice(0, at) + found.join('; ');
};

interface Issue {
  readonly code: unknown;
  readonly path: readonly unknown[];
  readonly message: string;
}

const isIssue = (value: unknown): value is Issue =>
  isObject(value) && 'code' in value && Array.isArray(value['path']) && typeof value['message'] === 'string';
