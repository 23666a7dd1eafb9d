import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { DownstreamPrompt, FilledPrompt, GetPrompt, PromptMessage } from '../../wire/manage-messages.ts';
import type { ServerDirectory } from '../call/server-directory.ts';
import { askServer, offerOf, serverNamed } from './with-server.ts';

/**
 * Gets a prompt, filled in. A name that the server does not have, or a required argument that is missing, is answered here.
 * @throws {GantryError} `invalid_arguments`, or what asking the server throws.
 */
export const getPrompt = async (
  servers: ServerDirectory,
  { serverName, promptName, arguments: given = {} }: GetPrompt,
  clock: Clock,
): Promise<FilledPrompt> => {
  const server = serverNamed(servers, serverName);
  const { prompts } = (await offerOf(servers, serverName, clock)).surface;
  const prompt = promptNamed(prompts, promptName);
  if (!prompt) throw unknownPrompt(server.name, promptName, prompts);
  const args = toTexts(given);
  const missing = prompt.arguments.filter(({ name, required }) => required && !Object.hasOwn(args, name));
  if (missing.length > 0) throw missingArguments(server.name, prompt, missing);
  const params = { name: prompt.name, arguments: args };
  const result = await askServer(server, clock, { method: 'prompts/get', params }, `prompt "${shown(prompt.name)}"`);
  const messages = isObject(result) && Array.isArray(result['messages']) ? (result['messages'] as unknown[]) : [];
  return { serverName: server.name, promptName: prompt.name, messages: messages.flatMap(toMessage) };
};

const promptNamed = (prompts: readonly DownstreamPrompt[], name: string): DownstreamPrompt | undefined =>
  prompts.find((prompt) => prompt.name === name) ??
  prompts.find((prompt) => prompt.name.toLowerCase() === name.toLowerCase());

const toTexts = (given: JsonObject): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );

const toMessage = (message: unknown): PromptMessage[] => {
  if (!isObject(message)) return [];
  const { role, content } = message;
  const isText = isObject(content) && content['type'] === 'text' && typeof content['text'] === 'string';
  const contentType = isObject(content) && typeof content['type'] === 'string' ? content['type'] : 'unknown';
  return [
    {
      role: typeof role === 'string' ? role : 'user',
      content: isText ? (content['text'] as string) : JSON.stringify(content ?? null),
      contentType,
    },
  ];
};

const unknownPrompt = (server: string, asked: string, prompts: readonly DownstreamPrompt[]): GantryError => {
  const names = prompts.map(({ name }) => shown(name)).toSorted();
  const known = names.length > 0 ? `Its prompts: ${names.join(', ')}.` : 'It has no prompts.';
  return new GantryError('invalid_arguments', `Server "${server}" has no prompt "${shown(asked)}". ${known}`);
};

const missingArguments = (
  server: string,
  prompt: DownstreamPrompt,
  missing: DownstreamPrompt['arguments'],
): GantryError => {
  const signature = prompt.arguments.map(
    ({ name, required, description }) =>
      `${shown(name)} (${required ? 'required' : 'optional'})${description ? `: ${flattenText(description, { maxChars: 200 })}` : ''}`,
  );
  return new GantryError(
    'invalid_arguments',
    `Prompt "${shown(prompt.name)}" of server "${server}" needs ${missing.map(({ name }) => `"${shown(name)}"`).join(', ')}. Its arguments: ${signature.join('; ')}.`,
  );
};

const shown = (text: string): string => flattenText(text, { maxChars: 100 });
