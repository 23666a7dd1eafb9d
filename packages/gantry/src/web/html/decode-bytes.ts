import { isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';

/**
 * Decodes a text from the web in the order of the encoding standard: byte order mark, header, declaration in the page. Where nothing
 * known is declared: UTF-8 if it is valid, else what the letters look like, else windows-1252. Never fails; bytes that mean nothing
 * become U+FFFD.
 *
 * @param options `charset` is the label of the header, `isHtml` says whether declarations in the text count.
 */
export const decodeBytes = (
  bytes: Uint8Array,
  options: { readonly charset: string | undefined; readonly isHtml: boolean },
): string => {
  const decoder =
    markedDecoder(bytes) ??
    decoderFor(options.charset) ??
    (options.isHtml ? decoderFor(declaredLabel(bytes)) : undefined) ??
    guessedDecoder(bytes);
  const text = decoder.decode(bytes);
  return text.search(control) === -1 ? text : text.replaceAll(control, '');
};

// Nobody reads these, and terminals obey some of them.
const control = /[^\P{Cc}\t\n\r\f]/gu;

const markedDecoder = ([first, second, third]: Uint8Array): TextDecoder | undefined => {
  if (first === 0xef && second === 0xbb && third === 0xbf) return new TextDecoder('utf-8');
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le');
  return first === 0xfe && second === 0xff ? new TextDecoder('utf-16be') : undefined;
};

/** The decoder of an encoding label, undefined for one that nobody knows. */
const decoderFor = (label: string | undefined): TextDecoder | undefined => {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined; // Labels are whatever a server wrote; an unknown one declares nothing.
  }
};

/** The label of the page's own declaration. Many stand behind the first kilobyte, which is all that the standard looks at. */
const declaredLabel = (bytes: Uint8Array): string | undefined => {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, prescanBytes)).toString('latin1');
  const label = declaration.exec(head.replaceAll(comment, ''))?.[1]?.toLowerCase();
  // A declaration that can be read byte by byte is not in UTF-16, whatever it says.
  return label?.startsWith('utf-16') ? 'utf-8' : label;
};

const prescanBytes = 65_536;
const comment = /<!--[^]*?-->/g;
const declaration =
  /(?:<meta\b[^>]{0,1024}?[\s;"'/]charset\s*=\s*["']?\s*|^\s*<\?xml\b[^>]{0,256}?\sencoding\s*=\s*["'])([\w:.-]{1,40})/i;

const guessedDecoder = (bytes: Uint8Array): TextDecoder => {
  if (isUtf8(bytes)) return new TextDecoder('utf-8');
  const [best] = analyse(withoutTags(bytes.subarray(0, prescanBytes)));
  return (best && best.confidence >= 10 ? decoderFor(best.name) : undefined) ?? new TextDecoder('windows-1252');
};

/** Tags are ASCII whatever the encoding and would drown the letters that tell it. */
const withoutTags = (bytes: Uint8Array): Uint8Array => {
  const kept = new Uint8Array(bytes.length);
  let length = 0;
  let inTag = false;
  for (const byte of bytes) {
    if (byte === 0x3c) inTag = true;
    else if (byte === 0x3e) inTag = false;
    else if (!inTag) {
      kept[length] = byte;
      length += 1;
    }
  }
  return kept.subarray(0, length);
};
