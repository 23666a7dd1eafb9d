/** What a body is, as far as reading it goes. */
export type MediaKind = 'html' | 'json' | 'text' | 'pdf' | 'image' | 'binary';

/** A `Content-Type` header in its parts, lower case. */
export interface ContentType {
  /** Empty when the header is missing or makes no sense. */
  readonly type: string;
  readonly charset: string | undefined;
}

/** Reads a `Content-Type` header. Quotes and further parameters do not matter. */
export const parseContentType = (header: string | null): ContentType => {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*["']?\s*([^"'\s]+)/.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  return { type: /^[\w.+-]+\/[\w.+*-]+$/.test(type.trim()) ? type.trim() : '', charset };
};

/** What a media type says the body is; undefined when only the bytes can tell. */
export const kindOfType = (type: string): MediaKind | undefined => {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  if (type === 'application/json' || type.endsWith('+json') || type === 'text/json') return 'json';
  if (type === 'application/pdf' || type === 'application/x-pdf') return 'pdf';
  if (type === 'image/svg+xml' || type.startsWith('image/')) return 'image';
  if (type.startsWith('text/') || type.endsWith('+xml') || textTypes.has(type))
    return type === 'text/plain' ? undefined : 'text';
  if (type === '' || type === 'application/octet-stream' || type === '*/*') return undefined;
  return 'binary';
};

/** What a body is by its first bytes, for servers that do not say, or say `text/plain` of everything. */
export const kindOfBytes = (bytes: Uint8Array): MediaKind => {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, sniffedBytes)).toString('latin1');
  if (head.startsWith('%PDF-')) return 'pdf';
  if (/^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF....WEBP|BM)/s.test(head)) return 'image';
  if (/^(?:\xff\xfe|\xfe\xff|\xef\xbb\xbf)/.test(head)) return markup.test(head.replaceAll('\0', '')) ? 'html' : 'text';
  if (holdsControls(bytes.subarray(0, sniffedBytes))) return 'binary';
  if (markup.test(head)) return 'html';
  return 'text';
};

const sniffedBytes = 1024;

// Texts hold tabs, line ends and the escape of some encodings, and no other control character.
const holdsControls = (bytes: Uint8Array): boolean =>
  bytes.some((byte) => byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b);

const markup = /^[^<]{0,8}\s*(?:<!--[^]*?-->\s*)*<(?:!doctype html|html|head|body|title|meta|p|div|h1|article)\b/i;

const textTypes: ReadonlySet<string> = new Set([
  'application/xml',
  'application/javascript',
  'application/ecmascript',
  'application/x-javascript',
  'application/yaml',
  'application/x-yaml',
  'application/toml',
  'application/x-sh',
  'application/sql',
  'application/x-ndjson',
  'application/graphql',
  'application/rtf',
]);
