import * as z from 'zod';
import type { ToolFamily } from '../../../tool/tool-family.ts';
import { toolFamilies } from '../../../tool/tool-family.ts';
import type { AttachmentsEntry } from './attachments-entry.ts';
import { attachmentsEntrySchema } from './attachments-entry.ts';
import { headerProblemOf } from './header-problem.ts';

const names = z.array(z.string().min(1));
const texts = z.record(z.string(), z.string());

/** How an HTTP server is reached; anything else that is written there reads as `auto`. */
export type TransportMode = 'auto' | 'sse' | 'streamable-http';

const transportModes: Readonly<Record<string, TransportMode>> = {
  auto: 'auto',
  sse: 'sse',
  'streamable-http': 'streamable-http',
  streamable: 'streamable-http',
  http: 'streamable-http',
};

/** One entry of `mcpServers` in `mcp.json`, as it stands in the file. Fields that Gantry does not know stay there and have no effect. */
export interface ServerEntry {
  /** 12 hex digits, written by the bridge; never changed after that. */
  readonly id?: string | undefined;
  /** `agent` when a model registered the server; absent for the operator's own. */
  readonly origin?: 'agent' | undefined;
  readonly type?: 'sse' | 'http' | 'streamable-http' | 'stdio' | undefined;
  readonly url?: string | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly transportMode?: string | undefined;
  readonly disabled?: boolean | undefined;
  /** Its tools take the place of the bundled one of that family. */
  readonly family?: ToolFamily | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  readonly deniedTools?: readonly string[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly auth?: { readonly profile: string } | undefined;
  readonly oauth?: OAuthSettings | undefined;
  readonly toolTimeoutMs?: number | undefined;
  readonly attachments?: AttachmentsEntry | undefined;
  readonly argGuards?: readonly ArgGuardEntry[] | undefined;
  readonly elicitation?: Readonly<Record<string, unknown>> | undefined;
  readonly sampling?: SamplingEntry | undefined;
  readonly tasks?: boolean | undefined;
  readonly taskTimeoutMinutes?: number | undefined;
}

/** Whether a server may ask for answers of a model, and how much it may spend. */
export interface SamplingEntry {
  /** Default false. */
  readonly allowed?: boolean | undefined;
  /** Default `low`. */
  readonly tier?: 'low' | 'balanced' | 'high' | undefined;
  /** Of one answer; default 2,000. */
  readonly maxTokens?: number | undefined;
  /** Default 20. */
  readonly callsPerHour?: number | undefined;
  /** What it sends and what it gets, together; default 100,000. */
  readonly tokensPerHour?: number | undefined;
}

/** A rule that the arguments of calls must meet before they are sent. */
export interface ArgGuardEntry {
  /** `path-prefix`, `url-host`, `json-schema`, or one that the host adds. */
  readonly handler: string;
  /** Names in any case; absent or empty: all tools. */
  readonly tools?: readonly string[] | undefined;
  /** What the handler takes. */
  readonly options?: unknown;
}

/** How Gantry signs in to a server. Nothing of it is needed for a server that lets clients register themselves. */
export interface OAuthSettings {
  /** Default `authorization_code`: a person signs in with "gantry servers login". */
  readonly grant?: 'authorization_code' | 'client_credentials' | undefined;
  /** Of a client that was registered beforehand; `${NAME}` stands for an environment variable, here and in the secret. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** Default what the server asks for. */
  readonly scope?: string | undefined;
}

const entryObject = z
  .looseObject({
    id: z.string().regex(/^[0-9a-f]{12}$/, 'must be 12 hex digits; remove it and Gantry writes a new one'),
    origin: z.literal('agent'),
    type: z
      .enum(['sse', 'http', 'streamable-http', 'stdio'])
      .describe(
        'sse, http and streamable-http mean an HTTP server (transportMode chooses the transport); stdio a program.',
      ),
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    command: z
      .string()
      .min(1)
      .describe('Program of a stdio server; launched only with "mcp": {"stdio": "launch"} in the configuration.'),
    args: z.array(z.string()),
    env: texts.describe('Environment of the program, beside PATH, HOME, NODE_EXTRA_CA_CERTS and the like.'),
    cwd: z.string().min(1).describe('Working folder of the program.'),
    transportMode: z.string().describe('auto (default), streamable-http or sse.'),
    disabled: z.boolean().describe('true: the entry stays in the file and is not connected.'),
    family: z
      .enum(toolFamilies, { error: `must be ${toolFamilies.map((family) => `"${family}"`).join(' or ')}` })
      .describe('url_fetcher or web_search: its tools take the place of fetch_url or web_search.'),
    allowedTools: names.describe('Only these tools are offered. When it is not empty, deniedTools has no effect.'),
    deniedTools: names.describe('These tools are never offered.'),
    headers: texts
      .superRefine((headers, context) => {
        const message = headerProblemOf(headers);
        if (message !== undefined) context.addIssue({ code: 'custom', message: message.replace(/\.$/, '') });
      })
      .describe('HTTP headers; ${NAME} stands for an environment variable.'),
    auth: z.looseObject({ profile: z.string().min(1) }).describe('A named source of bearer tokens.'),
    oauth: z
      .strictObject({
        grant: z
          .enum(['authorization_code', 'client_credentials'])
          .describe('authorization_code (default): a person signs in with "gantry servers login".'),
        clientId: z.string().min(1).describe('Of a client that was registered beforehand.'),
        clientSecret: z.string().min(1).describe('Its secret; ${NAME} stands for an environment variable.'),
        scope: z.string().min(1).describe('Scopes to ask for, divided by spaces.'),
      })
      .partial()
      .describe('How Gantry signs in.'),
    toolTimeoutMs: z.number().describe('Budget of a call, milliseconds; capped by mcp.maxTimeoutMs.'),
    attachments: attachmentsEntrySchema.describe('How files go in and out, as paths in the shared folder.'),
    argGuards: z
      .array(
        z.strictObject({
          handler: z.string().min(1).describe('path-prefix, url-host or json-schema.'),
          tools: names.describe('Names of tools, in any case; default all.').optional(),
          options: z.unknown().optional().describe('What the handler takes.'),
        }),
      )
      .describe('Rules that arguments must meet before a call is sent.'),
    elicitation: z.looseObject({}).describe('How questions of the server are answered.'),
    sampling: z
      .strictObject({
        allowed: z.boolean().describe('true: the server may ask for answers of a model.'),
        tier: z.enum(['low', 'balanced', 'high']).describe('Which model answers; default low.'),
        maxTokens: z.number().int().positive().describe('Of one answer; default 2000.'),
        callsPerHour: z.number().int().nonnegative().describe('Default 20.'),
        tokensPerHour: z.number().int().nonnegative().describe('Sent and answered, together; default 100000.'),
      })
      .partial()
      .describe('Whether the server may ask for answers of a model, and how much it may spend.'),
    tasks: z.boolean().describe('true: long calls run as background tasks.'),
    taskTimeoutMinutes: z.number().positive(),
  })
  .partial();

/** Checks one entry. */
export const serverEntrySchema: z.ZodType<ServerEntry> = entryObject;

/** Fields of an entry that mean something to Gantry; others are other programs'. */
export const entryFields: readonly string[] = Object.keys(entryObject.shape);

/** Checks a whole `mcp.json`; `gantry config schema` prints it for editors. */
export const mcpFileSchema: z.ZodType<{ readonly mcpServers: Readonly<Record<string, ServerEntry>> }> = z.looseObject({
  mcpServers: z.record(z.string(), serverEntrySchema),
});

/** True for an entry that names a program instead of a URL. */
export const isStdioEntry = (entry: ServerEntry): boolean =>
  entry.type === 'stdio' || (entry.url === undefined && entry.command !== undefined);

/** The transport an HTTP entry asks for. */
export const transportModeOf = (entry: ServerEntry): TransportMode =>
  transportModes[entry.transportMode?.toLowerCase() ?? 'auto'] ?? 'auto';

/** True for a name that a new server may have. Entries that break the rule are loaded all the same, with a warning. */
export const isValidServerName = (name: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name) && !name.includes('__');

/**
 * Says why a name cannot be an entry's at all; undefined for every other, also for one that no new server may have. JSON readers take
 * `__proto__` for something else than a member.
 */
export const nameProblemOf = (name: string): string | undefined =>
  name.trim() === '' || name === '__proto__' || /\p{Cc}/u.test(name)
    ? `${JSON.stringify(name)} cannot be the name of a server; rename the entry: letters, digits, "_", "." and "-", at most 64, beginning with a letter or digit, without "__".`
    : undefined;

/** True when the tool passes the entry's filters: a non-empty allow list decides alone, else the deny list. */
export const isToolAllowed = (entry: ServerEntry, toolName: string): boolean => {
  const lists = (list: readonly string[] | undefined): boolean =>
    list?.some((name) => name.toLowerCase() === toolName.toLowerCase()) ?? false;
  return entry.allowedTools?.length ? lists(entry.allowedTools) : !lists(entry.deniedTools);
};

/** The headers to send: `${NAME}` is replaced from the environment, and a header that comes out empty is left out. */
export const expandHeaders = (
  entry: ServerEntry,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> => {
  const expanded: Record<string, string> = {};
  for (const [name, value] of Object.entries(entry.headers ?? {})) {
    const text = expandVariables(value, env).trim();
    if (text !== '' && text.toLowerCase() !== 'bearer') expanded[name] = text;
  }
  return expanded;
};

/** Replaces `${NAME}` from the environment; a variable that is not set is empty. */
export const expandVariables = (text: string, env: Readonly<Record<string, string | undefined>>): string =>
  text.replaceAll(/\$\{([^}]+)\}/g, (_whole, variable: string) => env[variable.trim()] ?? '');
