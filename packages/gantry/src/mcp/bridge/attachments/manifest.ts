import { GantryError } from '../../../kernel/errors.ts';
import type { AttachmentsEntry } from '../config/attachments-entry.ts';

/** The block `attachments` of an entry with its defaults, in the form that calls use. */
export interface AttachmentManifest {
  readonly thresholdBytes: number;
  readonly uploadFieldName: string;
  readonly endpointPath: string;
  /** Arguments that hold lists of files. */
  readonly listArguments: readonly string[];
  /** Lower-case names of the tools that take `"mode": "save"`. */
  readonly savingTools: ReadonlySet<string>;
}

/** Fills in the defaults. What is no `name[*]` of a top-level argument is left out; {@link unreadPaths} tells of it. */
export const toManifest = (entry: AttachmentsEntry): AttachmentManifest => ({
  thresholdBytes: entry.thresholdBytes ?? 262_144,
  uploadFieldName: entry.uploadFieldName ?? 'file',
  endpointPath: entry.endpointPath ?? '/attachments',
  listArguments: (entry.outbound?.paramPaths ?? []).map(toArgument).filter((name) => name !== undefined),
  savingTools: new Set((entry.inbound?.tools ?? []).map((tool) => tool.toLowerCase())),
});

/** The `paramPaths` that have no effect. */
export const unreadPaths = (entry: AttachmentsEntry): string[] =>
  (entry.outbound?.paramPaths ?? []).filter((path) => toArgument(path) === undefined);

const toArgument = (path: string): string | undefined => /^([^.[\]*]+)\[\*\]$/.exec(path.trim())?.[1];

/**
 * Where files of a server are: its scheme, host and port, the manifest's path, and the id of one.
 * @throws {GantryError} `execution_failed` for an id that would lead elsewhere.
 */
export const attachmentUrl = (serverUrl: URL, { endpointPath }: AttachmentManifest, id?: string): URL => {
  // A URL resolves these two, however they are encoded.
  if (id === '.' || id === '..') throw new GantryError('execution_failed', `"${id}" is no id of a file.`);
  const path = `/${endpointPath.replace(/^\/+/, '').replace(/\/+$/, '')}`;
  return new URL(id === undefined ? path : `${path}/${encodeURIComponent(id)}`, serverUrl.origin);
};
