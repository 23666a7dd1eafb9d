import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Tool, ToolExecutor } from '../../../tool/executor.ts';
import type { ManageClient } from '../manage-client.ts';
import type { ReadServerName } from './management-tool.ts';
import { managementTool, serverNameSchema, textArgument } from './management-tool.ts';
import { failedOutcome, textOutcome } from '../../../tool/outcome.ts';
import type { Visibility } from './visibility.ts';

/** `mcp_get_prompt`: a server's prompt, filled in. */
export const getPrompt = (
  manage: Pick<ManageClient, 'prompt'>,
  serverOf: ReadServerName,
  isVisible: Visibility['isVisible'],
): Tool =>
  managementTool({
    name: 'mcp_get_prompt',
    description: 'Fills in a prompt of an MCP server and returns its messages.',
    properties: {
      server_name: serverNameSchema,
      prompt_name: { type: 'string', description: "The server's own name of the prompt." },
      arguments: { type: 'object', description: 'By name; all are texts.' },
    },
    required: ['server_name', 'prompt_name'],
    annotations: { readOnlyHint: true },
    execute: async (args, context) => {
      const [server, prompt] = [serverOf(args, context), textArgument(args, 'prompt_name')];
      if (!isVisible(server, 'prompt', prompt, context))
        return failedOutcome(
          'tool_not_found',
          `You can use no prompt "${prompt.slice(0, 100)}" of a server "${server.slice(0, 100)}"; see mcp_get_service_details.`,
        );
      const given = args['arguments'];
      return fill(manage, server, prompt, isObject(given) ? given : {});
    },
  });

/** Runs a typed prompt, which is the same by another name. */
export const promptExecutor =
  (manage: Pick<ManageClient, 'prompt'>) =>
  (server: string, prompt: string): ToolExecutor => ({
    execute: async ({ arguments: args }) => textOutcome(await fill(manage, server, prompt, args)),
  });

const fill = async (
  manage: Pick<ManageClient, 'prompt'>,
  server: string,
  prompt: string,
  args: JsonObject,
): Promise<string> => {
  const texts = Object.entries(args).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const { messages } = await manage.prompt({
    serverName: server,
    promptName: prompt,
    arguments: Object.fromEntries(texts) as JsonObject,
  });
  return JSON.stringify(messages);
};
