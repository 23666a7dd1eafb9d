import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import type { Attachment, ToolReport } from '../../../tool/outcome.ts';
import type { AttachmentServer } from './attachment-server.ts';
import type { AttachmentStorage } from './attachment-storage.ts';
import { fromBase64 } from '../../../kernel/base64.ts';
import type { AttachmentManifest } from './manifest.ts';
import { textMember } from './member.ts';
import { mimeOfName, plainMime, unknownMime } from './mime.ts';

/** How a tool hands a file over: it keeps it for a download, or its result holds it. */
export type Handover = 'stash' | 'inline';

/** How a call wants a file of a tool; undefined when it does not ask to save one. */
export const handoverOf = (
  tool: string,
  args: JsonObject,
  manifest: AttachmentManifest,
  canDownload: boolean,
): Handover | undefined => {
  const { mode, sizeHint } = args;
  if (typeof mode !== 'string' || mode.toLowerCase() !== 'save') return undefined;
  if (!manifest.savingTools.has(tool.toLowerCase())) return undefined;
  const bytes = typeof sizeHint === 'string' && sizeHint.trim() !== '' ? Number(sizeHint) : sizeHint;
  const isSmall = typeof bytes === 'number' && bytes < manifest.thresholdBytes;
  return isSmall || !canDownload ? 'inline' : 'stash';
};

/** What files are received with. */
export interface ReceiveOptions {
  readonly handover: Handover;
  readonly storage: AttachmentStorage;
  readonly server: AttachmentServer | undefined;
  readonly signal: AbortSignal;
}

/**
 * Writes the file of a result to the shared folder and says where it is, in the place of the result; undefined when the result tells of no
 * file.
 * @throws {GantryError} when it does and the file cannot be had, or not be saved.
 */
export const receiveAttachment = async (
  report: ToolReport,
  options: ReceiveOptions,
): Promise<ToolReport | undefined> => {
  const payload = payloadOf(report);
  if (!payload) return undefined;
  const attachment = options.handover === 'stash' ? await download(payload, options) : await unpack(payload, options);
  return {
    parts: [{ type: 'text', text: JSON.stringify(attachment) }],
    meta: report.meta,
    attachments: [attachment],
  };
};

type Payload = Readonly<Record<string, unknown>>;

const payloadOf = ({ parts }: ToolReport): Payload | undefined => {
  for (const part of parts) {
    if (part.type !== 'text') continue;
    const parsed = parseJson(part.text);
    if (parsed.ok && isObject(parsed.value)) return parsed.value;
  }
  return undefined;
};

const download = async (payload: Payload, { storage, server, signal }: ReceiveOptions): Promise<Attachment> => {
  const id = textMember(payload, 'attachmentId', 'id');
  if (id === undefined || !server)
    throw new GantryError('execution_failed', 'The result names no "attachmentId" to download.');
  const { name, mime, chunks } = await server.download(id, signal);
  const saved = await storage.save(name ?? textMember(payload, 'name') ?? id, chunks);
  void server.remove(id);
  return { ...saved, mime: mimeIn(payload) ?? (mime ? plainMime(mime) : mimeOfName(saved.name)) ?? unknownMime };
};

const unpack = async (payload: Payload, { storage }: ReceiveOptions): Promise<Attachment> => {
  const bytes = fromBase64(textMember(payload, 'base64Content', 'base64', 'data') ?? '');
  if (!bytes || bytes.length === 0) throw new GantryError('execution_failed', 'The result holds no file in base64.');
  const saved = await storage.save(textMember(payload, 'name') ?? 'attachment', bytes);
  return { ...saved, mime: mimeIn(payload) ?? mimeOfName(saved.name) ?? unknownMime };
};

const mimeIn = (payload: Payload): string | undefined => textMember(payload, 'mime', 'mimeType', 'contentType');
