/** What a file holds, as far as its first bytes tell. */
export type FileKind =
  | { readonly kind: 'text'; readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' }
  | { readonly kind: 'binary'; readonly mime: string };

/** As many bytes of the beginning of a file are enough to tell. */
export const sampleBytes = 8192;

const signatures: readonly (readonly [mime: string, offset: number, bytes: string])[] = [
  ['image/png', 0, '89504e47'],
  ['image/jpeg', 0, 'ffd8ff'],
  ['image/gif', 0, '474946383'],
  ['image/webp', 8, '57454250'],
  ['application/pdf', 0, '255044462d'],
  ['application/zip', 0, '504b0304'],
  ['application/gzip', 0, '1f8b'],
  ['application/x-sqlite3', 0, '53514c69746520666f726d6174'],
  ['audio/wav', 8, '57415645'],
  ['audio/ogg', 0, '4f676753'],
  ['audio/mpeg', 0, '494433'],
  ['video/mp4', 4, '66747970'],
  ['application/wasm', 0, '0061736d'],
];

/** Tells text and binary apart. Text that is not Unicode counts as Windows-1252, unless it holds control characters. */
export const fileKindOf = (sample: Uint8Array): FileKind => {
  const bytes = Buffer.from(sample.buffer, sample.byteOffset, sample.byteLength);
  for (const [mime, offset, hex] of signatures)
    if (bytes.toString('hex', offset, offset + Math.ceil(hex.length / 2)).startsWith(hex))
      return { kind: 'binary', mime };
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { kind: 'text', encoding: 'utf-16le' };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { kind: 'text', encoding: 'utf-16be' };
  if (bytes.includes(0)) return { kind: 'binary', mime: 'application/octet-stream' };
  if (isUtf8(bytes)) return { kind: 'text', encoding: 'utf-8' };
  return bytes.some(isControl)
    ? { kind: 'binary', mime: 'application/octet-stream' }
    : { kind: 'text', encoding: 'windows-1252' };
};

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    // Streaming forgives a character that the end of the sample has cut.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
};

// Tab, line breaks, form feed and escape occur in text.
const isControl = (byte: number): boolean =>
  byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27;
