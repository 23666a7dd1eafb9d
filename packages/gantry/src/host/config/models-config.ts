import * as z from 'zod';
import type { EmbeddingSettings } from '../../agent/models/lazy-embedding-model.ts';
import type { ModelBehaviors } from '../../agent/models/model-behavior.ts';
import type { ModelsSettings, TierSettings } from '../../agent/models/model-settings.ts';
import { isObject } from '../../kernel/json.ts';

/** Section `models`: which models the agent runs on. */
export interface ModelsConfig extends ModelsSettings {
  readonly embedding?: EmbeddingSettings | undefined;
  readonly callTimeoutMs: number;
  readonly maxRetries: number;
  readonly tierThresholds: { readonly low: number; readonly balanced: number };
}

/** Section `modelBehaviors`: what differs by model, by case-insensitive prefix of its id. */
export interface ModelBehaviorsConfig {
  readonly models: ModelBehaviors;
}

/** Section `loop`: how the agent works. */
export interface LoopConfig {
  readonly systemPrompt?: string | undefined;
  readonly maxToolIterations: number;
  readonly maxConsecutiveToolErrors: number;
  readonly maxToolTimeoutMs: number;
  readonly maxContextTurns: number;
  readonly persistErrorTurns: boolean;
  readonly conversationDays: number;
  readonly maxConversationTurns: number;
  readonly analyzeFileMaxBytes: number;
  readonly analyzeFileMimeTypes: readonly string[];
  readonly maxConcurrentSubagents: number;
  readonly subagentTimeoutMinutes: number;
  readonly maxConcurrentWorkers: number;
  readonly maxConcurrentWisps: number;
  readonly serviceHints: boolean;
  readonly recalledSkills: number;
  readonly sessionStart?: string | undefined;
  readonly completionTries: number;
  readonly followUp: boolean;
  readonly guardActions: boolean;
  readonly retryFiltered: boolean;
}

const positive = z.number().int().positive();

const tier: z.ZodType<TierSettings> = z.strictObject({
  provider: z
    .enum(['openai', 'openai-compatible', 'azure', 'anthropic', 'google'])
    .default('openai-compatible')
    .describe('What the endpoint speaks; openai-compatible is Ollama, vLLM, LM Studio, OpenRouter and many others.'),
  modelId: z
    .string()
    .min(1)
    .optional()
    .describe("The provider's name of the model; with Azure that of the deployment."),
  endpoint: z.url().optional().describe('Base address of the API, such as http://127.0.0.1:11434/v1 for Ollama.'),
  apiKey: z
    .string()
    .min(1)
    .optional()
    .describe('Default OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or AZURE_API_KEY.'),
  headers: z.record(z.string(), z.string()).optional().describe('Further HTTP headers of each request.'),
  api: z.enum(['responses', 'chat']).optional().describe("Which of OpenAI's interfaces; default responses."),
  supportsImageInput: z.boolean().optional().describe('The model takes images; default false.'),
  supportsTools: z.boolean().optional().describe('The model calls tools; default true.'),
  contextTokens: positive.optional().describe('Tokens that fit into one request; longer ones are shortened before.'),
  maxOutputTokens: positive.optional().describe('The most tokens of one answer.'),
  temperature: z.number().min(0).max(2).optional().describe("Default the provider's."),
});

const embedding: z.ZodType<EmbeddingSettings> = z.strictObject({
  provider: z.enum(['openai', 'openai-compatible', 'google', 'azure']).default('openai-compatible'),
  modelId: z.string().min(1).describe('Such as nomic-embed-text with Ollama.'),
  endpoint: z.url().optional().describe('Base address of the API.'),
  apiKey: z.string().min(1).optional().describe('Default as for the tiers.'),
  headers: z.record(z.string(), z.string()).optional().describe('Further HTTP headers of each request.'),
});

const tierKeys = new Set(['low', 'balanced', 'high', 'embedding', 'callTimeoutMs', 'maxRetries', 'tierThresholds']);

/** One model without a tier around it is the balanced one. */
const flatIsBalanced = (value: unknown): unknown => {
  if (!isObject(value)) return value;
  const flat = Object.entries(value).filter(([key]) => !tierKeys.has(key));
  if (flat.length === 0 || value['modelId'] === undefined) return value;
  const rest = Object.entries(value).filter(([key]) => tierKeys.has(key));
  const balanced = isObject(value['balanced']) ? value['balanced'] : {};
  return { ...Object.fromEntries(rest), balanced: { ...Object.fromEntries(flat), ...balanced } };
};

/** Section `models`. */
export const modelsConfig: z.ZodType<ModelsConfig> = z.preprocess(
  flatIsBalanced,
  z.strictObject({
    low: tier.optional().describe('For small turns and questions of the tool layer itself; default the balanced one.'),
    balanced: tier
      .optional()
      .describe('The model that everything runs on which has no tier, and that stands in for others.'),
    high: tier.optional().describe('For demanding turns; default the balanced one.'),
    embedding: embedding
      .optional()
      .describe('Turns texts into vectors, so that tools are found by meaning too; none by default.'),
    callTimeoutMs: z
      .number()
      .int()
      .nonnegative()
      .default(90_000)
      .describe('How long a model may send nothing before the call is given up; 0 = for ever.'),
    maxInFlight: positive
      .optional()
      .describe('The most calls of models at once, of all tiers together; 1 suits one local model. Default no limit.'),
    maxRetries: z
      .number()
      .int()
      .nonnegative()
      .default(2)
      .describe("How often a request is sent again after a rate limit or a failure of the provider's."),
    tierThresholds: z
      .strictObject({
        low: z.number().min(0).max(1).default(0.15).describe('Below, a turn goes to the low tier.'),
        balanced: z
          .number()
          .min(0)
          .max(1)
          .default(0.46)
          .describe('Below, to the balanced one; from it on, to the high one.'),
      })
      .prefault({})
      .describe('How demanding (0 to 1) a message must look for a higher tier.'),
  }),
);

/** Section `modelBehaviors`. */
export const modelBehaviorsConfig: z.ZodType<ModelBehaviorsConfig> = z.strictObject({
  models: z
    .record(
      z.string(),
      z.strictObject({
        toolResultChunkingThreshold: positive
          .optional()
          .describe('Longest tool result, in characters, that is given whole.'),
        maxToolIterations: positive.optional().describe('Rounds of tool calls in one turn.'),
        maxTools: positive.optional().describe('The most tools in one request.'),
        supportsTools: z.boolean().optional().describe('false: the model is shown no tools.'),
        textToolCalls: z
          .boolean()
          .optional()
          .describe('Reads calls that the model writes as text; with supportsTools false it is told how to.'),
        shortenAboveTokens: positive
          .optional()
          .describe('Requests are shortened from so many tokens on, such as 30000; default only what does not fit.'),
        maxShownResultChars: positive
          .min(1000)
          .optional()
          .describe(
            'The most characters of one tool result in a request, such as 8000; the whole is kept. Default all.',
          ),
        extraPrompt: z.string().optional().describe('Added to what the model is told at the start.'),
        nudgeHallucinatedActions: z
          .boolean()
          .optional()
          .describe('Asks again when the model claims an action, or names an id, and no call was made.'),
        nudgeLeakedSyntax: z.boolean().optional().describe('Asks again when a call stands in the answer as text.'),
        nudgeUnexpectedCjk: z
          .boolean()
          .optional()
          .describe('Asks again when the answer has Chinese, Japanese or Korean characters that nobody asked for.'),
        nudgeGivingUp: z.boolean().optional().describe('Asks again when the model gives up after a failed call.'),
      }),
    )
    .default({})
    .describe('By prefix of the model id; case does not matter, the longest prefix wins.'),
});

/** Section `loop`. */
export const loopConfig: z.ZodType<LoopConfig> = z.strictObject({
  systemPrompt: z.string().min(1).optional().describe('Who the agent is and how it works; replaces the default text.'),
  maxToolIterations: positive.default(50).describe('Rounds of tool calls in one turn (GANTRY_MAX_TOOL_ITERATIONS).'),
  maxConsecutiveToolErrors: positive
    .default(5)
    .describe('Failed calls in a row that end a turn (GANTRY_MAX_CONSECUTIVE_TOOL_ERRORS).'),
  maxToolTimeoutMs: positive
    .default(300_000)
    .describe('The most a built-in tool may take, whoever calls it (GANTRY_TOOL_EXECUTION_TIMEOUT_MS).'),
  maxContextTurns: positive.default(20).describe('Turns of the conversation that the model sees.'),
  persistErrorTurns: z.boolean().default(true).describe('Keeps a failed turn in the conversation with its error.'),
  conversationDays: positive.default(90).describe('Days after which a conversation without a new turn is forgotten.'),
  maxConversationTurns: positive.default(200).describe('Turns that are kept of one conversation.'),
  analyzeFileMaxBytes: positive
    .default(8 * 1024 * 1024)
    .describe('Largest file that analyze_file takes, bytes; view_file: all files of a call together.'),
  analyzeFileMimeTypes: z
    .array(z.string())
    .default(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
    .describe(
      'What analyze_file takes, and of pictures view_file; whether another type works depends on the provider.',
    ),
  maxConcurrentSubagents: positive
    .default(3)
    .describe('Subagents that may work at the same time, of all conversations.'),
  subagentTimeoutMinutes: positive
    .default(10)
    .describe('Minutes after which a subagent is ended that was given no other limit.'),
  maxConcurrentWorkers: positive.default(5).describe('Workers of one spawn_workers call that run at the same time.'),
  maxConcurrentWisps: positive.default(10).describe('Pipelines of one spawn_wisps call that run at the same time.'),
  serviceHints: z
    .boolean()
    .default(true)
    .describe('Names the two servers that fit a message best to the model, beside the message.'),
  recalledSkills: z
    .number()
    .int()
    .nonnegative()
    .default(5)
    .describe(
      'The most skills that a message brings with it because they are about what it asks; each once in a session.',
    ),
  sessionStart: z
    .string()
    .min(1)
    .optional()
    .describe('What the model is told beside the first message of a conversation; nothing by default.'),
  completionTries: z
    .number()
    .int()
    .nonnegative()
    .max(5)
    .default(0)
    .describe(
      'How often the agent goes on when the low model finds its answer incomplete; 0 = answers are not checked.',
    ),
  followUp: z
    .boolean()
    .default(false)
    .describe(
      'One further look may be taken behind the answer to an open request, when the low model finds one worth it.',
    ),
  guardActions: z
    .boolean()
    .default(false)
    .describe('Calls that write to servers or the schedule do not run while the user only shares information.'),
  retryFiltered: z
    .boolean()
    .default(false)
    .describe("Asks once more, without the conversation before, what the provider's content filter stopped."),
});
