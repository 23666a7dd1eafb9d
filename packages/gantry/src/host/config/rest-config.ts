import * as z from 'zod';
import type { Json } from '../../kernel/json.ts';
import type { RestAuth, RestEndpoint } from '../../rest/endpoint.ts';
import type { RestSettings } from '../../rest/rest.ts';

const variable = z.string().regex(/^[A-Za-z_]\w*$/, 'the name of an environment variable');
const templates = z.record(z.string(), z.string());

const auth: z.ZodType<RestAuth> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('bearer'), env: variable.describe('Variable that holds the token.') }),
  z.strictObject({ type: z.literal('basic'), usernameEnv: variable, passwordEnv: variable }),
  z.strictObject({
    type: z.literal('header'),
    name: z.string().min(1).describe('The header.'),
    env: variable.describe('Variable that holds its value.'),
  }),
]);

const endpoint: z.ZodType<RestEndpoint> = z.strictObject({
  description: z.string().min(1).describe('What the tool does, for the model that chooses it.'),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).optional().describe('Default GET.'),
  url: z.string().min(1).describe('Address; {name} in path or query stands for an argument, which is encoded.'),
  query: templates.optional().describe('Query parameters; {name} is an argument, ${NAME} an environment variable.'),
  headers: templates.optional().describe('Headers; {name} is an argument, ${NAME} an environment variable.'),
  auth: auth.optional().describe('Sign-in with secrets of the environment.'),
  parameters: z
    .record(z.string(), z.json())
    .optional()
    .describe('JSON Schema of the arguments; default the arguments that templates name, all required texts.'),
  body: (z.json() as z.ZodType<Json>)
    .optional()
    .describe('Body with {name} for arguments; default for POST, PUT and PATCH all that no other template names.'),
  bodyType: z.enum(['json', 'form']).optional().describe('How the body is written; default json.'),
  private: z.boolean().optional().describe('Lets the address be one of a private network; default false.'),
  timeoutMs: z.int().positive().max(300_000).optional().describe('The whole call; default 30000.'),
  maxBytes: z.int().positive().max(33_554_432).optional().describe('Most that is read of an answer; default 1 MB.'),
});

/** Section `rest`. */
export const restConfig: z.ZodType<RestSettings> = z.strictObject({
  tools: z.record(z.string(), endpoint).default({}).describe('HTTP endpoints that become tools, by name.'),
});
