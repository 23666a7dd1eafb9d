import type { AuthProfileSettings } from '../../mcp/bridge/auth/auth-profile.ts';
import * as z from 'zod';
import type { OAuthResourceSettings } from '../../http/oauth-resource.ts';
import type { ClientRules } from '../access/client-rules.ts';
import type { Tier, WrapperMode } from '../../tool/context.ts';
import type { WebSettings } from '../../web/web-settings.ts';
import type { RestSettings } from '../../rest/rest.ts';
import { restConfig } from './rest-config.ts';
import type { BusConfig } from './bus-config.ts';
import { busConfig } from './bus-config.ts';
import type { StoreConfig } from './store-config.ts';
import { storeConfig } from './store-config.ts';
import type { ScriptsConfig } from './scripts-config.ts';
import { scriptsConfig } from './scripts-config.ts';
import type { LoopConfig, ModelBehaviorsConfig, ModelsConfig } from './models-config.ts';
import { loopConfig, modelBehaviorsConfig, modelsConfig } from './models-config.ts';
import { webConfig } from './web-config.ts';

const positive = z.number().int().positive();
const seconds = z.number().nonnegative();
const modes = ['auto', 'off', 'eager', 'lazy', 'pinned'] as const;
// Any case is taken; editors are offered these.
const mode = z.string().toLowerCase().meta({ enum: modes }).pipe(z.enum(modes));

/** Everything that can be configured, with its defaults. One section per room; every value has a description. */
export interface GantryConfig {
  readonly agent: string;
  readonly dataDir: string;
  readonly sharedDir?: string | undefined;
  readonly mcp: McpConfig;
  readonly web: WebConfig;
  readonly schedule: ScheduleConfig;
  readonly scripts: ScriptsConfig;
  readonly files: FilesConfig;
  readonly rest: RestSettings;
  readonly store: StoreConfig;
  readonly bus: BusConfig;
  readonly serve: ServeConfig;
  readonly models: ModelsConfig;
  readonly modelBehaviors: ModelBehaviorsConfig;
  readonly loop: LoopConfig;
  readonly log: LogConfig;
}

/** Section `mcp`: the bridge to MCP servers. */
export interface McpConfig {
  readonly configPath: string;
  readonly stdio: 'skip' | 'launch';
  readonly defaultServers: Readonly<Record<string, string>>;
  readonly defaultTimeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly connectRetryCount: number;
  readonly connectRetryBaseDelayMs: number;
  readonly reconnectSweepIntervalSeconds: number;
  readonly configPollIntervalSeconds: number;
  readonly surfaceRefreshIntervalSeconds: number;
  readonly maxResponseBytes: number;
  readonly quarantineSeconds: number;
  readonly stdioIdleSeconds: number;
  readonly resourceInlineTextLimit: number;
  readonly attachmentMaxAgeDays: number;
  readonly authProfiles: Readonly<Record<string, AuthProfileSettings>>;
  readonly generateLlmSummaries: boolean;
  readonly defaultElicitation: Readonly<Record<string, unknown>>;
  readonly maxPendingQuestionsPerSession: number;
  readonly maxPendingQuestions: number;
  readonly maxTasksPerSession: number;
  readonly maxTasks: number;
  readonly defaultTaskTimeoutMinutes: number;
  readonly taskPollMinMs: number;
  readonly taskPollMaxMs: number;
  readonly taskPollFailureLimit: number;
  readonly wrapperMode: WrapperMode;
  readonly wrapperModeByTier: Readonly<Partial<Record<Tier, WrapperMode>>>;
  readonly maxActivatedToolsPerSession: number;
  readonly activationIdleTimeoutMinutes: number;
  readonly maxPinnedServersPerSession: number;
  readonly maxToolsPerRequest: number;
}

/** Section `web`: search and reading pages. */
export type WebConfig = WebSettings;

/** Section `serve`: the gateway. */
export interface ServeConfig {
  readonly port: number;
  readonly host: string;
  readonly token?: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly expose: readonly string[];
  readonly mode: WrapperMode;
  readonly clientModes: Readonly<Record<string, WrapperMode>>;
  readonly requireToken: boolean;
  readonly publicUrl?: string | undefined;
  readonly oauth?: OAuthResourceSettings | undefined;
  readonly clients: ClientRules;
}

/** Section `schedule`: scheduled tasks. */
export interface ScheduleConfig {
  readonly timeZone?: string | undefined;
  readonly maxParallelRuns: number;
}

/** Section `files`: the shared folder for models. */
export interface FilesConfig {
  readonly maxWriteBytes: number;
}

/** Section `log`. */
export interface LogConfig {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

const mcp = z.strictObject({
  configPath: z.string().min(1).default('mcp.json').describe('File of MCP servers; relative to the working folder.'),
  stdio: z
    .enum(['skip', 'launch'])
    .default('skip')
    .describe('launch: entries with a command are started as programs. skip: they are left out with a warning.'),
  defaultServers: z
    .record(z.string(), z.url())
    .default({})
    .describe('Name to URL: written into the file of servers unless an entry points there already.'),
  defaultTimeoutMs: positive.default(60_000).describe('Budget of a call that asks for none.'),
  maxTimeoutMs: positive.default(900_000).describe('The most a call or a server entry can ask for.'),
  connectTimeoutMs: positive
    .default(10_000)
    .describe('How long one server may take to connect; the others do not wait for it.'),
  connectRetryCount: z.number().int().nonnegative().default(2).describe('Further attempts after a failed first one.'),
  connectRetryBaseDelayMs: positive.default(2000).describe('Wait before the first further attempt; doubles each time.'),
  reconnectSweepIntervalSeconds: seconds.default(60).describe('How often lost servers are tried again; 0 = never.'),
  configPollIntervalSeconds: seconds
    .default(5)
    .describe('How often the file of servers is looked at beside watching it; 0 = never.'),
  surfaceRefreshIntervalSeconds: seconds
    .default(300)
    .describe('How often tools are listed again without notice; 0 = never.'),
  maxResponseBytes: positive.default(32 * 1024 * 1024).describe('Largest answer accepted from a server, bytes.'),
  quarantineSeconds: positive
    .default(60)
    .describe('How long a server that keeps failing is left alone; doubles with each failure, up to ten times.'),
  stdioIdleSeconds: seconds
    .default(600)
    .describe('A program that was not called for so long is ended, and started again on the next call; 0 = never.'),
  resourceInlineTextLimit: positive
    .default(32_000)
    .describe('Longest text of a resource that is given whole, characters; a longer one is saved to a file.'),
  attachmentMaxAgeDays: z
    .number()
    .nonnegative()
    .default(0)
    .describe('Files in shared/attachments that nobody wrote to for so many days are removed; 0 = they are kept.'),
  authProfiles: z
    .record(
      z.string(),
      z
        .strictObject({
          env: z.string().min(1).optional().describe('Name of the environment variable that holds the token.'),
          file: z.string().min(1).optional().describe('File that holds the token; read anew when a server refuses it.'),
        })
        .refine(
          ({ env, file }) => (env === undefined) !== (file === undefined),
          'give "env" or "file", one of the two',
        ),
    )
    .default({})
    .describe('Named sources of bearer tokens, for entries with "auth": { "profile": NAME }.'),
  generateLlmSummaries: z
    .boolean()
    .default(true)
    .describe('A model, where one is configured, writes the sentence on each server that callers are shown.'),
  defaultElicitation: z
    .strictObject({
      mode: z.string().describe('auto (default), decline or off; anything else declines.'),
      maxPerCall: z.number().int().nonnegative().describe('Questions answered in one call; default 3.'),
      defaults: z.record(z.string(), z.unknown()).describe('Answers by field name; they win over every responder.'),
      deniedFields: z.array(z.string()).describe('Fields that are never answered.'),
      responder: z.string().describe('Who answers the rest.'),
      responderTimeoutMs: z.number().describe('How long the responder may take; default 20,000.'),
    })
    .partial()
    .default({})
    .describe('How questions of servers are answered whose entry has no "elicitation" of its own.'),
  maxPendingQuestionsPerSession: positive.default(5).describe('Questions handed back to one session that may be open.'),
  maxPendingQuestions: positive.default(50).describe('The same of all sessions together.'),
  maxTasksPerSession: positive.default(3).describe('Background tasks that one session may run.'),
  maxTasks: positive.default(20).describe('The same of all sessions together.'),
  defaultTaskTimeoutMinutes: positive
    .default(60)
    .describe('How long a background task may take whose server\'s entry has no "taskTimeoutMinutes".'),
  taskPollMinMs: positive
    .default(500)
    .describe('Shortest wait between two looks at a task, whatever its server suggests.'),
  taskPollMaxMs: positive.default(30_000).describe('Longest wait between two looks at a task.'),
  taskPollFailureLimit: positive.default(10).describe('So many looks in a row that fail end a task as lost.'),
  wrapperMode: mode
    .default('pinned')
    .describe(
      "How the agent's runs are offered the tools of servers: off, eager (all), lazy (found ones), pinned (also those of called servers), auto.",
    ),
  wrapperModeByTier: z
    .partialRecord(
      z
        .string()
        .toLowerCase()
        .pipe(z.enum(['low', 'balanced', 'high'])),
      mode,
    )
    .default({})
    .describe('The same for runs of single model tiers: low, balanced, high.'),
  maxActivatedToolsPerSession: positive.default(40).describe('Tools of servers that a session keeps in its list.'),
  activationIdleTimeoutMinutes: positive.default(720).describe('A session that is not used for so long loses them.'),
  maxPinnedServersPerSession: positive.default(3).describe('Servers that were called last whose tools are all kept.'),
  maxToolsPerRequest: positive
    .default(120)
    .describe('Tools of servers are added while a request has fewer tools; providers refuse above 128.'),
});

const serve = z.strictObject({
  port: z.number().int().min(0).max(65_535).default(7420).describe('Port of the gateway; 0 takes a free one.'),
  host: z.string().min(1).default('127.0.0.1').describe('Address to listen on. Anything but loopback needs a token.'),
  token: z.string().min(16).optional().describe('Bearer token that every request must carry (GANTRY_TOKEN).'),
  allowedHosts: z.array(z.string()).default([]).describe('Further Host names that requests may name.'),
  allowedOrigins: z.array(z.string()).default([]).describe('Further Origins that browsers may call from.'),
  expose: z
    .array(z.string())
    .default([])
    .describe('Further tool sources that clients of /mcp get, such as "scheduling" or "memory"; "*" means all.'),
  mode: mode
    .default('auto')
    .describe('How clients of /mcp are offered the tools of servers, where their address has no ?mode=.'),
  requireToken: z
    .boolean()
    .default(false)
    .describe(
      'Ask every request for a token on loopback too; elsewhere, and where there is a token or OAuth, it is asked for anyway.',
    ),
  publicUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Where clients reach the gateway behind a proxy that ends TLS, such as "https://gantry.example.com"; default the address that a request names.',
    ),
  oauth: z
    .strictObject({
      issuer: z.url().describe('The authorization server whose access tokens (JWTs) are taken.'),
      audience: z.string().min(1).describe('What its tokens name in "aud": this gateway.'),
      jwksUri: z.url().optional().describe("Where its keys are; default what the issuer's metadata says."),
    })
    .optional()
    .describe('OAuth 2.1: tokens of an authorization server let clients in, by their scopes mcp, read and admin.'),
  clients: z
    .record(
      z.string(),
      z.strictObject({
        servers: z.array(z.string()).optional().describe('Servers whose tools it sees.'),
        tools: z.array(z.string()).optional().describe('Tools it sees, such as "wiki__*".'),
        mode: mode.optional(),
        callsPerMinute: positive.optional().describe('Calls it may make in a minute.'),
        maxConcurrentCalls: positive.optional().describe('Calls of it that run at the same time.'),
        sharesFolder: z.boolean().optional().describe('It reads and writes the shared folder too.'),
        results: z.enum(['chunked', 'as-is']).optional().describe('as-is: long results are not split.'),
      }),
    )
    .default({})
    .describe('Rules for clients of /mcp, by the name of their token; "*" is for all that have none of their own.'),
  clientModes: z
    .record(z.string(), mode)
    .default({})
    .describe('The same for single clients, by the name of their token.'),
});

const schedule = z.strictObject({
  timeZone: z
    .string()
    .min(1)
    .optional()
    .describe("Time zone of cron lines until somebody sets one, such as Europe/Berlin; default the machine's."),
  maxParallelRuns: positive.default(4).describe('Tasks that run at the same time.'),
});

const files = z.strictObject({
  maxWriteBytes: positive.default(10_000_000).describe('Largest file that file_write makes, bytes.'),
});

/** Checks a configuration and fills in the defaults. */
export const configSchema: z.ZodType<GantryConfig> = z
  .strictObject({
    $schema: z.string().optional().describe('Address of this schema, for editors.'),
    agent: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, "_" and "-", at most 64')
      .default('gantry')
      .describe('Name of this process on the bus.'),
    dataDir: z.string().min(1).default('.gantry').describe('Folder of everything that must survive a restart.'),
    sharedDir: z
      .string()
      .min(1)
      .optional()
      .describe('Folder that tools, scripts and clients share; default "shared" in the data folder.'),
    mcp: mcp.prefault({}),
    web: webConfig.prefault({}),
    schedule: schedule.prefault({}),
    scripts: scriptsConfig.prefault({}),
    files: files.prefault({}),
    rest: restConfig.prefault({}),
    store: storeConfig.prefault({}),
    bus: busConfig.prefault({}),
    serve: serve.prefault({}),
    models: modelsConfig.prefault({}),
    modelBehaviors: modelBehaviorsConfig.prefault({}),
    loop: loopConfig.prefault({}),
    log: z
      .strictObject({
        level: z
          .enum(['debug', 'info', 'warn', 'error', 'silent'])
          .default('info')
          .describe('Least important line that is logged.'),
      })
      .prefault({}),
  })
  .superRefine(({ scripts, bus }, context) => {
    if (scripts.runner === 'remote' && bus.url === undefined)
      context.addIssue({
        code: 'custom',
        path: ['scripts', 'runner'],
        message: '"remote" leaves scripts to a scripts manager behind a broker; set "bus": {"url": "amqp://…"} too',
      });
  });
