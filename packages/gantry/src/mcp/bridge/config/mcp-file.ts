import { visit } from 'jsonc-parser';
import type * as z from 'zod';
import { GantryError } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';
import { parseJsonc } from '../../../kernel/jsonc.ts';
import type { ServerEntry } from './server-entry.ts';
import { nameProblemOf, serverEntrySchema } from './server-entry.ts';

/** What `mcp.json` says: entries that can be read, and for the others what is wrong. */
export interface McpFile {
  readonly entries: ReadonlyMap<string, ServerEntry>;
  /** Entries that break the schema or have a name that none can have, by name, each with a message that names the file, the path in it and the fix. */
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Reads the text of an `mcp.json` (comments and trailing commas are allowed). One bad entry never stops the others.
 * @throws {GantryError} `config_invalid` with line and column when it is no JSON, or has no map of servers.
 */
export const parseMcpFile = (text: string, file: string): McpFile => {
  const value = parseJsonc(text, file);
  const servers = isObject(value)
    ? (value['mcpServers'] ?? (Object.keys(value).length === 0 ? {} : undefined))
    : undefined;
  if (!isObject(servers))
    throw new GantryError(
      'config_invalid',
      `${file}: a map "mcpServers" is needed, as in {"mcpServers": {"docs": {"url": "https://example.com/mcp"}}}.`,
      { details: { file, path: 'mcpServers' } },
    );
  const entries = new Map<string, ServerEntry>();
  const refused = new Map<string, string>();
  if (holdsProto(text)) refused.set('__proto__', describeName(file, '__proto__'));
  for (const [name, entry] of Object.entries(servers)) {
    if (nameProblemOf(name) !== undefined) {
      refused.set(name, describeName(file, name));
      continue;
    }
    const parsed = serverEntrySchema.safeParse(entry);
    if (parsed.success) entries.set(name, parsed.data);
    else refused.set(name, describe(parsed.error, file, name));
  }
  return { entries, refused };
};

/** True when an entry has the name that parsing makes no member of. */
const holdsProto = (text: string): boolean => {
  let isFound = false;
  visit(
    text.replace(/^\uFEFF/, ''),
    {
      onObjectProperty: (name, _offset, _length, _line, _column, parent) => {
        if (name !== '__proto__') return;
        const path = parent();
        isFound ||= path.length === 1 && path[0] === 'mcpServers';
      },
    },
    { allowTrailingComma: true },
  );
  return isFound;
};

const describeName = (file: string, name: string): string => `${file}: mcpServers: ${nameProblemOf(name)}`;

const describe = (error: z.ZodError, file: string, name: string): string =>
  error.issues
    .map((issue) => `${file}: mcpServers.${[name, ...issue.path.map(String)].join('.')}: ${issue.message}.`)
    .join(' ');
