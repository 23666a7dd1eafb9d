import type { Plugin } from '../plugin/plugin.ts';
import { createVolume } from '../volume/volume.ts';
import { fileGuide } from './file-guide.ts';
import { fileTools } from './file-tools.ts';

/** Settings of {@link files}; all have a default. */
export interface FilesOptions {
  /** Largest file that may be written, bytes; default 10 MB. */
  readonly maxWriteBytes?: number | undefined;
}

/** The shared folder for models: four tools and their guide. */
export const files = ({ maxWriteBytes = 10_000_000 }: FilesOptions = {}): Plugin => ({
  name: 'files',
  setup: ({ tools, guides, sharedDir, callable }) => {
    guides.add(fileGuide(sharedDir));
    for (const tool of fileTools(createVolume(sharedDir), { maxWriteBytes, elsewhere: callable.howToFind }))
      tools.register(tool.registration, tool.executor);
  },
});
