import { atPointer } from '../kernel/json-pointer.ts';
import { isObject } from '../kernel/json.ts';
import type { Schema } from './subschemas.ts';

/**
 * A schema in one line, in the manner of a type: `{"path": string, "recursive"?: boolean, "kind": "a" | "b"}`. Required keys come first; what
 * does not fit into `maxChars` (default 300) is left out and shown as `…`.
 */
export const toSignature = (schema: unknown, options: { maxChars?: number | undefined } = {}): string =>
  typeText(schema, schema, 3, options.maxChars ?? 300);

const typeText = (schema: unknown, root: unknown, levels: number, room: number): string => {
  let node = schema;
  for (let hops = 0; hops < 8 && isObject(node) && typeof node['$ref'] === 'string'; hops += 1)
    node = atPointer(root, node['$ref']);
  if (!isObject(node)) return node === false ? 'never' : 'any';
  if ('const' in node) return clip(JSON.stringify(node['const']), room);
  if (Array.isArray(node['enum'])) return clip(node['enum'].map((value) => JSON.stringify(value)).join(' | '), room);
  if (isObject(node['properties'])) return objectText(node, root, levels, room);
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    const branches = node[keyword];
    if (!Array.isArray(branches)) continue;
    const share = Math.floor(room / branches.length);
    // Alternatives of alternatives multiply; room runs out before time does.
    if (levels <= 0 || share < 4) return '…';
    const texts = new Set(branches.map((branch) => typeText(branch, root, levels - 1, share)));
    return clip([...texts].join(keyword === 'allOf' ? ' & ' : ' | '), room);
  }
  const types = Array.isArray(node['type']) ? (node['type'] as unknown[]) : [node['type'] ?? 'any'];
  return clip(types.map((type) => plainType(String(type), node, root, levels, room)).join(' | '), room);
};

const plainType = (type: string, node: Schema, root: unknown, levels: number, room: number): string => {
  if (type !== 'array') return type === 'object' ? '{}' : type;
  if (levels <= 0) return 'any[]';
  const item = typeText(node['items'], root, levels - 1, room - 4);
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
};

const objectText = (node: Schema, root: unknown, levels: number, room: number): string => {
  if (levels <= 0) return '{…}';
  const required = new Set(Array.isArray(node['required']) ? (node['required'] as string[]) : []);
  const entries = Object.entries(node['properties'] as Schema).sort(
    ([a], [b]) => Number(required.has(b)) - Number(required.has(a)),
  );
  let text = '';
  for (const [key, member] of entries) {
    const label = `${JSON.stringify(key)}${required.has(key) ? '' : '?'}: `;
    const left = room - text.length - label.length - 6;
    const entry = left > 4 ? `${label}${typeText(member, root, levels - 1, left)}` : undefined;
    if (entry === undefined || text.length + entry.length + 6 > room) return `{${text}${text === '' ? '' : ', '}…}`;
    text += text === '' ? entry : `, ${entry}`;
  }
  return `{${text}}`;
};

const clip = (text: string, room: number): string =>
  text.length <= room ? text : `${text.slice(0, Math.max(1, room - 1))}…`;
