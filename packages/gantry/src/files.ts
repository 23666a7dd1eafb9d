/** The shared folder for models: the plugin. */
export { files } from './files/files.ts';
export type { FilesOptions } from './files/files.ts';
