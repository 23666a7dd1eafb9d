import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { GetServiceDetails, ServiceDetails } from '../../wire/manage-messages.ts';
import { toolNamed } from '../call/find-tool.ts';
import type { ServerDirectory } from '../call/server-directory.ts';
import { offerOf } from './with-server.ts';

/**
 * A server's identity, tools and prompts, from what was read last; with `toolName` only that tool.
 * @throws {GantryError} `server_unknown`, `invalid_arguments`, and `server_unreachable` when nothing is known of it.
 */
export const getDetails = async (
  servers: ServerDirectory,
  { serverName, toolName }: GetServiceDetails,
  clock: Clock,
): Promise<ServiceDetails> => {
  const { name, surface } = await offerOf(servers, serverName, clock);
  const { identity, tools, prompts, resources, templates } = surface;
  const counts = { resourceCount: resources.length, resourceTemplateCount: templates.length };
  if (toolName === undefined || toolName === '') return { server: identity, tools, prompts, ...counts };
  const tool = toolNamed(tools, toolName);
  if (tool) return { server: identity, tools: [tool], prompts: [], ...counts };
  const names = tools.map((known) => shown(known.name)).toSorted();
  throw new GantryError(
    'invalid_arguments',
    `Server "${name}" has no tool "${shown(toolName)}". Its tools: ${names.join(', ')}.`,
  );
};

const shown = (text: string): string => flattenText(text, { maxChars: 100 });
