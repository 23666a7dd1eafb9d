import { fingerprint, toolFingerprint } from '../../../schema/fingerprint.ts';
import { toManifest } from '../attachments/manifest.ts';
import { withPathsInSchema } from '../attachments/widen-schema.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import { isToolAllowed } from '../config/server-entry.ts';
import type { DownstreamPrompt, DownstreamTool, ServerIdentity } from '../../wire/manage-messages.ts';

/** A resource or template as a server lists it. */
export interface DownstreamResource {
  readonly uri?: string | undefined;
  readonly uriTemplate?: string | undefined;
  readonly name?: string | undefined;
}

/** What a server offers, read at one moment. */
export interface Surface {
  readonly identity: ServerIdentity;
  /** All tools of the server that can be used, in its order. */
  readonly listed: readonly DownstreamTool[];
  /** Those that the entry's filters let through, taking paths where its manifest of attachments says so. */
  readonly tools: readonly DownstreamTool[];
  readonly prompts: readonly DownstreamPrompt[];
  /** False when the prompts could not be read and are those known before. */
  readonly promptsKnown: boolean;
  readonly resources: readonly DownstreamResource[];
  readonly templates: readonly DownstreamResource[];
  /** SHA-256 of everything above but the identity; null when a list could not be read. */
  readonly fingerprint: string | null;
  readonly toolFingerprints: Readonly<Record<string, string>>;
}

/** What was read, before filters and fingerprints. */
export type SurfaceLists = Omit<Surface, 'tools' | 'fingerprint' | 'toolFingerprints'>;

/** Applies the entry's filters and manifest, and works out the fingerprints. */
export const toSurface = (lists: SurfaceLists, entry: ServerEntry): Surface => {
  const manifest = entry.attachments && toManifest(entry.attachments);
  const allowed = lists.listed.filter((tool) => isToolAllowed(entry, tool.name));
  const tools = manifest ? allowed.map((tool) => withPathsInSchema(tool, manifest)) : allowed;
  const toolFingerprints = Object.fromEntries(tools.map((tool) => [tool.name, toolFingerprint(tool)]));
  return {
    ...lists,
    tools,
    toolFingerprints,
    fingerprint: lists.promptsKnown ? surfaceFingerprint(lists, toolFingerprints) : null,
  };
};

/** True when what may be told about the two differs. Without fingerprints the tools alone decide. */
export const isMoved = (before: Surface, after: Surface): boolean =>
  before.fingerprint !== null && after.fingerprint !== null
    ? before.fingerprint !== after.fingerprint
    : fingerprint(before.toolFingerprints) !== fingerprint(after.toolFingerprints) ||
      before.fingerprint !== after.fingerprint;

const surfaceFingerprint = (lists: SurfaceLists, toolFingerprints: Readonly<Record<string, string>>): string => {
  const prompts = lists.prompts
    .map(({ name, description, arguments: args }) => [
      name,
      description ?? null,
      args.map((argument) => [argument.name, argument.description ?? null, argument.required]),
    ])
    .sort(byName);
  // Resources join only when there are any, so an empty capability changes nothing.
  const resources = [...lists.resources, ...lists.templates]
    .map((resource) => [resource.uri ?? resource.uriTemplate ?? '', resource.name ?? null])
    .sort(byName);
  const tools = Object.entries(toolFingerprints).sort(byName);
  return fingerprint(resources.length > 0 ? [tools, prompts, resources] : [tools, prompts]);
};

const byName = (a: readonly unknown[], b: readonly unknown[]): number => (String(a[0]) < String(b[0]) ? -1 : 1);
