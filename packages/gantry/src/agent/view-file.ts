import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { Tool } from '../tool/executor.ts';
import { toNamedFile } from '../tool/opaque-ids.ts';
import type { ContextMedia } from '../tool/outcome.ts';
import type { FileVolume } from '../volume/volume.ts';
import { extensionsOf, mediaTypeOf, typeRefused } from './media-types.ts';
import type { TierModels } from './models/tier-models.ts';
import { tiers } from './models/tier-models.ts';
import { checkPicture, pictureSampleBytes } from './read-media.ts';

/** What all providers take as a picture. */
const pictureTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const mostFiles = 4;

/**
 * `view_file`: puts pictures of the shared folder into the context of the model that calls, which sees them itself, where `analyze_file`
 * brings the words of another. Listed in turns of models that see; undefined where no tier does.
 */
export const viewFileTool = (options: {
  readonly models: Pick<TierModels, 'own'>;
  readonly volume: Pick<FileVolume, 'openFile'>;
  /** Of all files of a call together; they are looked at before they are read. */
  readonly maxBytes: number;
  /** The types that files may have; of them only pictures can be viewed. */
  readonly types: readonly string[];
}): Tool | undefined => {
  const { models, volume, maxBytes } = options;
  const types = options.types.filter((type) => pictureTypes.has(type));
  const isUsable = tiers.some((tier) => models.own(tier)?.facts.capabilities?.['sees_images'] === true);
  if (!isUsable || types.length === 0) return undefined;

  /** What a path names, and how large it is. */
  const look = async (path: string): Promise<{ readonly media: ContextMedia & { path: string }; size: number }> => {
    await using file = await volume.openFile(path);
    const mediaType = mediaTypeOf(path);
    if (mediaType === undefined || !types.includes(mediaType)) throw typeRefused('view_file', path, types);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(pictureSampleBytes), 0, pictureSampleBytes, 0);
    checkPicture(buffer.subarray(0, bytesRead), mediaType, `"${path}"`);
    const { size } = await file.stat();
    return { media: { path, mediaType }, size };
  };

  return defineTool({
    name: 'view_file',
    description: `Puts pictures of the shared folder before you, to see them yourself (${extensionsOf(types).join(', ')}). Once in a turn, so name all that you need. Paths are as other tools give them, such as "attachments/plan.png", or ids of attached files, such as media_1.`,
    source: 'files',
    annotations: { readOnlyHint: true },
    requires: { modelCapabilities: { sees_images: true } },
    available: ({ takesContextItems }) => takesContextItems === true,
    input: z.strictObject({
      paths: z
        .array(z.string().min(1))
        .min(1)
        .max(mostFiles)
        .describe('Relative to the shared folder, absolute paths of files in it, or ids of attached files.'),
    }),
    execute: async ({ paths }, { ids }) => {
      const given = new Set(paths.map((path) => toNamedFile(path, ids)));
      const found = await Promise.all([...given].map(look));
      const size = found.reduce((sum, { size: one }) => sum + one, 0);
      if (size > maxBytes)
        throw new GantryError(
          'invalid_arguments',
          `These files have ${size} bytes together (${found.map((one) => `"${one.media.path}" ${one.size}`).join(', ')}), and ${maxBytes} are the most of a call; view fewer of them, or make them smaller first.`,
        );
      const names = found.map((one) => `\`${one.media.path}\` (${one.media.mediaType}, ${one.size} bytes)`);
      return {
        status: 'done',
        parts: [{ type: 'text', text: `Put before the model: ${names.join(', ')}.` }],
        contextItem: {
          text: found.length === 1 ? 'The picture that you asked to see.' : 'The pictures that you asked to see.',
          media: found.map(({ media }) => media),
        },
      };
    },
  });
};
