import type { CallToolResult } from '@modelcontextprotocol/server';
import { isSpecType } from '@modelcontextprotocol/server';
import { isObject } from '../../kernel/json.ts';
import { flattenText } from '../../text/flatten.ts';
import type { Part } from '../../tool/outcome.ts';

/** A content block of a result. */
export type ContentBlock = CallToolResult['content'][number];

/**
 * The parts of a result as blocks that every client can read. One odd block would cost a client the whole result: a block with an odd
 * extra is given without its extras, and any other becomes a text that names its type.
 */
export const toContentBlocks = (parts: readonly Part[]): ContentBlock[] => parts.map(toBlock);

const toBlock = (part: unknown): ContentBlock => {
  if (isBlock(part)) return part;
  const bare = isObject(part) ? withoutExtras(part) : part;
  if (isBlock(bare)) return bare;
  const type = isObject(part) ? String(part['type']) : typeof part;
  return { type: 'text', text: `[${flattenText(type, { maxChars: 100 })} content block]` };
};

const isBlock = (part: unknown): part is ContentBlock =>
  isPlainText(part) ||
  (isSpecType.ContentBlock(part) && (!('mimeType' in part) || part.mimeType === undefined || mime.test(part.mimeType)));

/** Nearly all blocks are this, and checking them takes time. */
const isPlainText = (part: unknown): boolean => {
  if (!isObject(part) || part['type'] !== 'text' || typeof part['text'] !== 'string') return false;
  for (const key in part) if (key !== 'type' && key !== 'text') return false;
  return true;
};

// RFC 6838 section 4.2, with parameters.
const mime = /^[A-Za-z\d][\w!#$&^.+-]{0,126}\/[A-Za-z\d][\w!#$&^.+-]{0,126}(?:\s*;.*)?$/;

const members = ['type', 'text', 'data', 'mimeType', 'uri', 'name', 'resource'];

const withoutExtras = (part: Readonly<Record<string, unknown>>): unknown => {
  const bare = Object.fromEntries(members.filter((key) => key in part).map((key) => [key, part[key]]));
  if (!isObject(bare['resource'])) return bare;
  const { uri, mimeType, text, blob } = bare['resource'];
  const contents = Object.fromEntries(
    Object.entries({ uri, mimeType, text, blob }).filter(([, value]) => value !== undefined),
  );
  return { ...bare, resource: contents };
};
