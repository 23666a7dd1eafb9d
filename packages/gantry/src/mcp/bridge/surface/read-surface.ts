import { messageOf } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { DownstreamPrompt, ServerIdentity } from '../../wire/manage-messages.ts';
import type { Connection } from '../connection/open-connection.ts';
import type { ListMethod } from './list-pages.ts';
import { listPages } from './list-pages.ts';
import { readTools, reportLeftOut } from './read-tools.ts';
import type { DownstreamResource, SurfaceLists } from './surface.ts';

/** Whose surface is read, and how. */
export interface ReadSurfaceOptions {
  readonly server: string;
  readonly serverId: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Prompts known before, kept when they cannot be read now. */
  readonly knownPrompts: readonly DownstreamPrompt[];
  /** Told what is wrong with a list that is taken for an empty one. */
  readonly onProblem?: ((problem: string) => void) | undefined;
}

/**
 * Reads everything a server offers, its lists side by side. Lists that it does not have are empty. Tools that cannot be read fail the
 * whole; prompts that cannot be read are those known before; resources that cannot be read are none.
 */
export const readSurface = async (connection: Connection, options: ReadSurfaceOptions): Promise<SurfaceLists> => {
  const { client } = connection;
  const capabilities = client.getServerCapabilities() ?? {};
  const [listed, prompts, resources, templates] = await Promise.all([
    capabilities.tools ? readListedTools(connection, options) : [],
    capabilities.prompts ? readPrompts(connection, options) : [],
    capabilities.resources ? readResources(connection, 'resources/list', options) : [],
    capabilities.resources ? readResources(connection, 'resources/templates/list', options) : [],
  ]);
  return {
    identity: identityOf(connection, options),
    listed,
    prompts: prompts ?? options.knownPrompts,
    promptsKnown: prompts !== undefined,
    resources,
    templates,
  };
};

/** The usable tools of a server as it lists them now. */
export const readListedTools = async (
  { client, isModern, transport }: Connection,
  options: Pick<ReadSurfaceOptions, 'server' | 'log' | 'signal' | 'onProblem'>,
): Promise<SurfaceLists['listed']> => {
  const listed = (await orEmpty(listPages(client, 'tools/list', options))) ?? [];
  const { tools, leftOut } = readTools(listed, { sendsHeaders: isModern && transport !== 'stdio' });
  reportLeftOut(options.log, options.server, leftOut);
  return tools;
};

const readPrompts = async (
  { client }: Connection,
  options: ReadSurfaceOptions,
): Promise<readonly DownstreamPrompt[] | undefined> => {
  try {
    return ((await orEmpty(listPages(client, 'prompts/list', options))) ?? []).flatMap(toPrompt);
  } catch (error) {
    options.log.warn({ server: options.server, reason: messageOf(error) }, 'the prompts of a server cannot be read');
    return undefined;
  }
};

const readResources = async (
  { client }: Connection,
  method: ListMethod,
  options: ReadSurfaceOptions,
): Promise<readonly DownstreamResource[]> => {
  try {
    return ((await orEmpty(listPages(client, method, options))) ?? []).filter(isObject) as DownstreamResource[];
  } catch (error) {
    const facts = { server: options.server, method, reason: messageOf(error) };
    options.log.warn(facts, 'the resources of a server cannot be read');
    return [];
  }
};

/** A server may name a capability and not know its method: then there is simply nothing. */
const orEmpty = async (listing: Promise<unknown[]>): Promise<unknown[] | undefined> => {
  try {
    return await listing;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === -32_601) return undefined;
    throw error;
  }
};

const toPrompt = (item: unknown): DownstreamPrompt[] => {
  if (!isObject(item) || typeof item['name'] !== 'string' || item['name'] === '') return [];
  const listed = Array.isArray(item['arguments']) ? (item['arguments'] as unknown[]) : [];
  const args = listed.flatMap((argument) =>
    isObject(argument) && typeof argument['name'] === 'string'
      ? [{ ...withTexts(argument), name: argument['name'], required: argument['required'] === true }]
      : [],
  );
  return [{ ...withTexts(item), name: item['name'], arguments: args }];
};

/** Without a title or description that is no text. */
const withTexts = (item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(item).filter(
      ([key, value]) => (key !== 'title' && key !== 'description') || typeof value === 'string',
    ),
  );

const identityOf = ({ client }: Connection, { server, serverId }: ReadSurfaceOptions): ServerIdentity => {
  const version = client.getServerVersion();
  return {
    name: server,
    id: serverId,
    implementationName: version?.name,
    title: version?.title,
    version: version?.version,
    description: version?.description,
    instructions: client.getInstructions(),
  };
};
