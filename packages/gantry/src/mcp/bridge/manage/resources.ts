import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { Volume } from '../../../volume/volume.ts';
import type {
  ListedResource,
  ListedResourceTemplate,
  ReadResource,
  ReadResourceResult,
  ResourceContents,
  ResourceDescription,
  ResourceList,
} from '../../wire/manage-messages.ts';
import type { ServerDirectory } from '../call/server-directory.ts';
import { resourceFileName } from '../result/capture-binary.ts';
import type { DownstreamResource } from '../surface/surface.ts';
import { matchesTemplate } from './uri-template.ts';
import { askServer, offerOf, serverNamed } from './with-server.ts';

/**
 * The resources and templates of a server.
 * @throws {GantryError} `server_unknown`, and `server_unreachable` when nothing is known of it.
 */
export const listResources = async (
  servers: ServerDirectory,
  serverName: string,
  clock: Clock,
): Promise<ResourceList> => {
  const { name, surface } = await offerOf(servers, serverName, clock);
  return {
    server: name,
    resources: surface.resources.flatMap((resource) =>
      typeof resource.uri === 'string' ? [{ uri: resource.uri, ...describe(resource) } satisfies ListedResource] : [],
    ),
    templates: surface.templates.flatMap((template) =>
      typeof template.uriTemplate === 'string'
        ? [{ uriTemplate: template.uriTemplate, ...describe(template) } satisfies ListedResourceTemplate]
        : [],
    ),
  };
};

/** Where contents go that are not given as they are. */
export interface ReadResourceOptions {
  readonly volume: Pick<Volume, 'saveNew'>;
  /** Characters. */
  readonly inlineTextLimit: number;
  readonly clock: Clock;
}

/**
 * Reads a resource: short text as it is, long text and bytes into a file of the shared folder.
 * @throws {GantryError} `execution_failed` with what the server said, and for an address that it does not list with those it does.
 */
export const readResource = async (
  servers: ServerDirectory,
  { serverName, uri }: ReadResource,
  options: ReadResourceOptions,
): Promise<ReadResourceResult> => {
  const server = serverNamed(servers, serverName);
  let result: unknown;
  try {
    const what = `resource "${shown(uri)}"`;
    result = await askServer(server, options.clock, { method: 'resources/read', params: { uri } }, what);
  } catch (error) {
    if (!GantryError.is(error) || error.code !== 'execution_failed') throw error;
    throw explained(error, server.name, uri, await listResources(servers, serverName, options.clock));
  }
  const listed = isObject(result) && Array.isArray(result['contents']) ? (result['contents'] as unknown[]) : [];
  const contents: ResourceContents[] = [];
  // One after another, so that the names of equal files follow their order.
  for (const item of listed) if (isObject(item)) contents.push(await toContents(item, server.name, uri, options));
  return { server: server.name, uri, contents };
};

const toContents = async (
  item: Readonly<Record<string, unknown>>,
  server: string,
  asked: string,
  { volume, inlineTextLimit }: ReadResourceOptions,
): Promise<ResourceContents> => {
  const uri = typeof item['uri'] === 'string' ? item['uri'] : asked;
  const mimeType = typeof item['mimeType'] === 'string' ? item['mimeType'] : undefined;
  const type = mimeType === undefined ? {} : { mimeType };
  const { text, blob } = item;
  const isBytes = typeof text !== 'string' && typeof blob === 'string';
  const inline = typeof text === 'string' ? text : '';
  if (!isBytes && inline.length <= inlineTextLimit) return { uri, ...type, text: inline };
  const name = resourceFileName(uri, mimeType ?? (isBytes ? 'application/octet-stream' : 'text/plain'), server);
  const bytes = isBytes ? Buffer.from(blob, 'base64') : Buffer.from(inline, 'utf8');
  const { path, size } = await volume.saveNew('resources', name, bytes);
  return { uri, ...type, path, size };
};

/** True for an address that the server lists, or that one of its templates may expand to. */
const isKnown = (uri: string, { resources, templates }: ResourceList): boolean =>
  resources.some((resource) => resource.uri === uri) ||
  templates.some((template) => matchesTemplate(template.uriTemplate, uri));

const shownAddresses = 50;

const explained = (error: GantryError, server: string, uri: string, list: ResourceList): GantryError => {
  const told = `Server "${server}" could not read "${shown(uri)}": ${error.message}`;
  const addresses = [
    ...list.resources.map((resource) => resource.uri),
    ...list.templates.map((template) => template.uriTemplate),
  ];
  if (addresses.length === 0)
    return new GantryError('execution_failed', `${told} It exposes no resources; use its tools.`, { cause: error });
  if (isKnown(uri, list)) return new GantryError('execution_failed', told, { cause: error });
  const more = addresses.length > shownAddresses ? ` and ${addresses.length - shownAddresses} more` : '';
  const known = addresses.slice(0, shownAddresses).map(shown).join(', ');
  return new GantryError(
    'execution_failed',
    `${told} It does not list that address. Its resources and templates: ${known}${more}; mcp_list_resources describes them.`,
    { cause: error },
  );
};

const describe = (resource: DownstreamResource & ResourceDescription): ResourceDescription => {
  const { name, title, description, mimeType, size } = resource;
  return Object.fromEntries(
    Object.entries({ name, title, description, mimeType, size }).filter(
      ([key, value]) => typeof value === (key === 'size' ? 'number' : 'string'),
    ),
  );
};

const shown = (text: string): string => flattenText(text, { maxChars: 300 });
