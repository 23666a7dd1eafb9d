import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { Attachment, MediaPart, Part, ResourcePart } from '../../../tool/outcome.ts';
import type { Volume } from '../../../volume/volume.ts';

/** Parts in which files stand in for bytes, and the files. */
export interface CapturedParts {
  readonly parts: readonly Part[];
  readonly attachments: readonly Attachment[];
}

/** True for a part that holds bytes. */
export const isBinary = (part: Part): part is MediaPart | ResourcePart =>
  part.type === 'image' || part.type === 'audio' || (part.type === 'resource' && part.resource.blob !== undefined);

/**
 * Writes the bytes in parts to the shared folder and puts a text part with a JSON description in the place of each. Order is kept. Bytes
 * that cannot be saved are described with the reason; a call never fails for that.
 */
export const captureBinary = async (
  parts: readonly Part[],
  options: { volume: Volume; tool: string; log: Log },
): Promise<CapturedParts> => {
  const attachments: Attachment[] = [];
  const captured: Part[] = [];
  // One after another, so that the names of equal files follow the order of the parts.
  for (const part of parts) {
    if (!isBinary(part)) {
      captured.push(part);
      continue;
    }
    const { data, mime, name, uri } = contentsOf(part, options.tool);
    try {
      const saved = await options.volume.saveNew('attachments', name, Buffer.from(data, 'base64'));
      const attachment: Attachment = { path: saved.path, name: saved.name, size: saved.size, mime };
      attachments.push(attachment);
      captured.push(described({ ...attachment, uri, note: 'The file is in the shared folder; use its path.' }));
    } catch (error) {
      options.log.warn({ tool: options.tool, reason: messageOf(error) }, 'an attachment could not be saved');
      captured.push(described({ name, size: bytesOf(data), mime, uri, note: 'The file could not be saved.' }));
    }
  }
  return { parts: captured, attachments };
};

const described = (description: Readonly<Record<string, string | number | undefined>>): Part => ({
  type: 'text',
  text: JSON.stringify(description),
});

const bytesOf = (base64: string): number => Math.floor((base64.replace(/=+$/, '').length * 3) / 4);

const contentsOf = (
  part: MediaPart | ResourcePart,
  tool: string,
): { data: string; mime: string; name: string; uri: string | undefined } => {
  if (part.type !== 'resource') {
    const mime = part.mimeType;
    return { data: part.data, mime, name: `${tool}-${part.type}${extensionOf(mime)}`, uri: undefined };
  }
  const { uri, mimeType = 'application/octet-stream', blob = '' } = part.resource;
  const last = lastSegment(uri);
  const name = last ?? `${tool}-resource`;
  return {
    data: blob,
    mime: mimeType,
    name: /\.[A-Za-z0-9]{1,10}$/.test(name) ? name : `${name}${extensionOf(mimeType)}`,
    uri: flattenText(uri, { maxChars: 2_000 }),
  };
};

const lastSegment = (uri: string): string | undefined => {
  const path = uri.replace(/[?#].*$/s, '').replace(/\/+$/, '');
  const segment = path.slice(path.lastIndexOf('/') + 1);
  if (segment === '' || segment.endsWith(':')) return undefined;
  return /%(?![0-9A-Fa-f]{2})/.test(segment) ? segment : Buffer.from(unescapePercent(segment), 'latin1').toString();
};

const unescapePercent = (segment: string): string =>
  Buffer.from(segment)
    .toString('latin1')
    .replaceAll(/%([0-9A-Fa-f]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const extensions: Readonly<Record<string, string>> = {
  'application/gzip': '.gz',
  'application/json': '.json',
  'application/pdf': '.pdf',
  'application/zip': '.zip',
  'audio/mpeg': '.mp3',
  'audio/ogg': '.ogg',
  'audio/wav': '.wav',
  'audio/webm': '.weba',
  'image/gif': '.gif',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/svg+xml': '.svg',
  'image/webp': '.webp',
  'text/csv': '.csv',
  'text/html': '.html',
  'text/plain': '.txt',
  'video/mp4': '.mp4',
};

const extensionOf = (mime: string): string => extensions[mime.toLowerCase().split(';', 1)[0]?.trim() ?? ''] ?? '.bin';
