import { isObject } from '../kernel/json.ts';
import type { ToolEntry } from './tool-fields.ts';
import { toNameWords } from './tokens.ts';

// Models read some hundred words; what comes later in a description says little about what the tool is for.
const maxDescriptionChars = 1_500;
const mostParameters = 30;

/** What an embedding model is given to read of a tool: its name in words, its title and description, the names of its parameters. */
export const toEmbeddingText = ({ server, name, title, description, inputSchema }: ToolEntry): string => {
  const properties = isObject(inputSchema) && isObject(inputSchema['properties']) ? inputSchema['properties'] : {};
  const parameters = Object.keys(properties)
    .slice(0, mostParameters)
    .map((parameter) => toNameWords(parameter).join(' '));
  return [
    `${toNameWords(server).join(' ')}: ${title ?? toNameWords(name).join(' ')}`,
    description.slice(0, maxDescriptionChars).trim(),
    parameters.length > 0 ? `Parameters: ${parameters.join(', ')}` : '',
  ]
    .filter((line) => line !== '')
    .join('\n');
};
