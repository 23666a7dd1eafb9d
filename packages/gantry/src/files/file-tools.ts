import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import type { CallContext } from '../tool/context.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { Tool } from '../tool/executor.ts';
import type { FileVolume } from '../volume/volume.ts';
import { describeHits, describeLines, describeListing, sizeText } from './file-texts.ts';
import { searchFiles } from './search-files.ts';
import { kindOfFile, readLines } from './text-file.ts';
import { withElsewhere } from './with-elsewhere.ts';

const source = 'files';
const maxListed = 500;
const maxDepth = 10;
const defaultLines = 1000;
const maxLines = 20_000;
const maxReadChars = 200_000;
const maxCountedBytes = 20_000_000;

const pathHelp = 'Path in the shared folder, such as "notes/plan.md", or the absolute path that another tool gave.';

/** What the tools work with beside the folder. */
export interface FileToolsOptions {
  readonly maxWriteBytes: number;
  /** What a caller is told whose path lies elsewhere: which tools may reach it. Undefined where there are none. */
  readonly elsewhere?: ((context: CallContext) => string | undefined) | undefined;
}

/** The tools by which a model lists, reads, writes and searches the shared folder. Nothing outside it can be reached. */
export const fileTools = (volume: FileVolume, options: FileToolsOptions): readonly Tool[] =>
  toolsOf(volume, options).map((tool) => withElsewhere(tool, options.elsewhere));

const toolsOf = (volume: FileVolume, options: FileToolsOptions): readonly Tool[] => [
  defineTool({
    name: 'file_list',
    description: 'Lists the files and folders of the shared folder, with sizes and times (UTC).',
    source,
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: z.strictObject({
      path: z.string().optional().describe('The folder; default the whole shared folder.'),
      depth: z.int().min(1).max(maxDepth).optional().describe('How many levels deep; default 1.'),
    }),
    execute: async ({ path = '', depth = 1 }) => {
      const folder = toFolder(path);
      return describeListing(folder, await volume.list(folder, { depth, maxEntries: maxListed }));
    },
  }),
  defineTool({
    name: 'file_read',
    description:
      'Reads a text file of the shared folder, whole or from one line on. A binary file is described and not shown.',
    source,
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: z.strictObject({
      path: z.string().describe(pathHelp),
      offset: z.int().min(1).optional().describe('Number of the first line, from 1; default 1.'),
      limit: z.int().min(1).max(maxLines).optional().describe(`Most lines to read; default ${defaultLines}.`),
    }),
    execute: async ({ path, offset = 1, limit = defaultLines }, { signal }) => {
      await using file = await volume.openFile(path);
      const [kind, { size }] = [await kindOfFile(file), await file.stat()];
      if (kind.kind === 'binary')
        return `\`${path}\` is no text: ${kind.mime}, ${sizeText(size)}. Give its path to a tool or script that works with such files.`;
      const { encoding } = kind;
      const range = await readLines(file, { encoding, offset, limit, maxChars: maxReadChars, maxCountedBytes, signal });
      return describeLines(path, range, { offset, size, encoding });
    },
  }),
  defineTool({
    name: 'file_write',
    description:
      'Writes a text file into the shared folder, making the folders above it. A file that is there already is kept unless overwrite is set.',
    source,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({
      path: z.string().describe(pathHelp),
      content: z.string().describe('The whole text of the file.'),
      overwrite: z.boolean().optional().describe('Replace a file that is there already; default false.'),
    }),
    execute: async ({ path, content, overwrite }) => {
      const bytes = Buffer.from(content);
      if (bytes.byteLength > options.maxWriteBytes)
        throw new GantryError(
          'invalid_arguments',
          `content is ${sizeText(bytes.byteLength)}, more than the ${sizeText(options.maxWriteBytes)} that one file may have; write it in parts.`,
        );
      const saved = await volume.write(path, bytes, { overwrite });
      return `Wrote \`${saved.path}\` (${sizeText(saved.size)}).`;
    },
  }),
  defineTool({
    name: 'file_search',
    description:
      'Finds a text in the names and contents of the files of the shared folder; upper and lower case do not matter. Gives path, line number and line.',
    source,
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: z.strictObject({
      query: z.string().min(1).describe('The text as it stands in the file; no pattern.'),
      path: z.string().optional().describe('The folder to search; default the whole shared folder.'),
    }),
    execute: async ({ query, path = '' }, { signal }) => {
      const folder = toFolder(path);
      return describeHits(query, folder, await searchFiles(volume, query, { folder, signal }));
    },
  }),
];

// Models write the whole folder in several ways.
const toFolder = (path: string): string => (['.', './', '/'].includes(path.trim()) ? '' : path);
