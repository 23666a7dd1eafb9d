import { deepFreeze } from '../../../kernel/json.ts';
import { toCanonical } from '../../../schema/canonical.ts';
import { typedPromptName } from '../../../schema/tool-name.ts';
import type { Tool, ToolExecutor } from '../../../tool/executor.ts';
import { toRegistration } from '../../../tool/registration.ts';
import type { DownstreamPrompt } from '../../wire/manage-messages.ts';

/**
 * A server's prompt as a tool: `{server}__{prompt}-prompt`, whose parameters are the prompt's arguments, all texts.
 * @throws {GantryError} `invalid_registration` when the server's definition breaks the tool contract.
 */
export const toTypedPrompt = (server: string, prompt: DownstreamPrompt, executor: ToolExecutor): Tool => {
  const required = prompt.arguments.filter((argument) => argument.required).map(({ name }) => name);
  const properties = prompt.arguments.map(({ name, description }) => [
    name,
    { type: 'string', ...(description && { description }) },
  ]);
  return {
    registration: toRegistration({
      name: typedPromptName(server, prompt.name),
      description: `[${server}] ${prompt.description?.trim() ? prompt.description : prompt.name}`,
      source: `mcp:${server}`,
      title: prompt.title,
      inputSchema: deepFreeze(
        toCanonical({
          type: 'object',
          properties: Object.fromEntries(properties),
          ...(required.length > 0 && { required }),
        }),
      ),
      annotations: { readOnlyHint: true },
      promptOf: { server, prompt: prompt.name },
    }),
    executor,
  };
};
