import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { AttachmentServer } from './attachment-server.ts';
import type { AttachmentStorage } from './attachment-storage.ts';
import type { AttachmentManifest } from './manifest.ts';

/** What files are sent with. */
export interface SendOptions {
  readonly tool: string;
  readonly manifest: AttachmentManifest;
  readonly storage: AttachmentStorage;
  /** Absent for a program, which has no place for uploads. */
  readonly server: AttachmentServer | undefined;
  readonly signal: AbortSignal;
}

/**
 * The arguments with files in the place of paths: a small file as `{ name, base64Content }`, a large one as `{ attachmentId }` after its
 * upload. What else an item holds stays, and items without a path too.
 * @throws {GantryError} `invalid_arguments` when a file cannot be read or uploaded; the tool must not be called then.
 */
export const sendAttachments = async (args: JsonObject, options: SendOptions): Promise<JsonObject> => {
  let sent = args;
  for (const name of options.manifest.listArguments) {
    const list = args[name];
    if (!Array.isArray(list) || !list.some(hasPath)) continue;
    const items: Json[] = [];
    // One after another: each may be held in memory.
    for (const item of list as readonly Json[]) items.push(hasPath(item) ? await sendItem(item, options) : item);
    sent = { ...sent, [name]: items };
  }
  return sent;
};

type ItemWithPath = JsonObject & { readonly path: string };

const hasPath = (item: Json): item is ItemWithPath =>
  isObject(item) && typeof item['path'] === 'string' && item['path'] !== '';

const sendItem = async ({ path, ...rest }: ItemWithPath, options: SendOptions): Promise<JsonObject> => {
  const { manifest, storage, server, signal } = options;
  try {
    await using file = await storage.open(path);
    if (file.size < manifest.thresholdBytes) {
      const base64Content = Buffer.from(await file.read()).toString('base64');
      return { ...rest, name: nameIn(rest) ?? file.name, base64Content };
    }
    if (!server)
      throw new GantryError(
        'execution_failed',
        `The file has ${file.size} bytes, and a program takes only files of less than ${manifest.thresholdBytes}.`,
      );
    return { ...rest, attachmentId: await server.upload(file, signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    throw new GantryError(
      'invalid_arguments',
      `The attachment "${flattenText(path)}" could not be sent, so tool "${flattenText(options.tool)}" was not called: ${flattenText(messageOf(error), { maxChars: 500 })} Check the path: attachments are files in ${storage.folder}.`,
      { cause: error },
    );
  }
};

/** A name that the caller chose for the file goes before the file's own. */
const nameIn = ({ name }: JsonObject): string | undefined =>
  typeof name === 'string' && name.trim() !== '' ? name : undefined;
