import type { ArgGuardHandlers } from './guards/arg-guard.ts';

/** How the bridge behaves; every field may be absent. */
export interface McpBridgeSettings {
  /** How long a server may take from the first byte to its listed tools. Default 10,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** How often a failed connection is tried again soon. Default 2. */
  readonly connectRetryCount?: number | undefined;
  /** Wait before the first of those, doubling for each further one. Default 2,000. */
  readonly connectRetryBaseDelayMs?: number | undefined;
  /** How often servers that are down are tried and stale surfaces looked at. Default 60; 0 switches both off. */
  readonly reconnectSweepIntervalSeconds?: number | undefined;
  /** How long a server that keeps failing is left alone; doubles with each further failure, up to ten times. Default 60. */
  readonly quarantineSeconds?: number | undefined;
  /** After how long without a call a launched program is ended, to be started again on the next. Default 600; 0 = never. */
  readonly stdioIdleSeconds?: number | undefined;
  /** Longest text of a resource that is given whole, characters; a longer one is saved to a file. Default 32,000. */
  readonly resourceInlineTextLimit?: number | undefined;
  /** After how long the sweep lists a server's tools again. Default 300; 0 switches it off. */
  readonly surfaceRefreshIntervalSeconds?: number | undefined;
  /** Budget of a call that asks for none. Default 60,000. */
  readonly defaultTimeoutMs?: number | undefined;
  /** The most any call may take, progress or not. Default 900,000. */
  readonly maxTimeoutMs?: number | undefined;
  /** The largest single answer accepted from a server. Default 32 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** `launch` lets entries with a command start their program. Default `off`. */
  readonly stdio?: 'off' | 'launch' | undefined;
  /** Files in the folder of attachments that nobody wrote to for so many days are removed. Default 0 = they are kept. */
  readonly attachmentMaxAgeDays?: number | undefined;
  /** Argument guards that entries may name, beside `path-prefix`, `url-host` and `json-schema`. */
  readonly argGuards?: ArgGuardHandlers | undefined;
  /** A model, where there is one, writes the sentence on each server. Default true. */
  readonly generateLlmSummaries?: boolean | undefined;
  /** How questions are answered of servers whose entry does not say, and of all that a model registered; see `docs/elicitation.md`. */
  readonly defaultElicitation?: Readonly<Record<string, unknown>> | undefined;
  /** Open questions that wait for an answer, of one session. Default 5. */
  readonly maxPendingQuestionsPerSession?: number | undefined;
  /** The same of all sessions together. Default 50. */
  readonly maxPendingQuestions?: number | undefined;
  /** Background tasks that one session may run. Default 3. */
  readonly maxTasksPerSession?: number | undefined;
  /** The same of all sessions together. Default 20. */
  readonly maxTasks?: number | undefined;
  /** How long a task may take whose server's entry does not say. Default 60. */
  readonly defaultTaskTimeoutMinutes?: number | undefined;
  /** The shortest and longest wait between two looks at a task, whatever its server suggests. Default 500 and 30,000. */
  readonly taskPollMinMs?: number | undefined;
  readonly taskPollMaxMs?: number | undefined;
  /** So many looks in a row that fail end a task as lost. Default 10. */
  readonly taskPollFailureLimit?: number | undefined;
  /** How long calls may go on when the bridge is disposed. Default 5,000. */
  readonly drainTimeoutMs?: number | undefined;
}

/** The settings with their defaults. */
export type BridgeSettings = { readonly [K in keyof McpBridgeSettings]-?: NonNullable<McpBridgeSettings[K]> };

/** Fills in the defaults. */
export const toBridgeSettings = (given: McpBridgeSettings): BridgeSettings => ({
  connectTimeoutMs: given.connectTimeoutMs ?? 10_000,
  connectRetryCount: given.connectRetryCount ?? 2,
  connectRetryBaseDelayMs: given.connectRetryBaseDelayMs ?? 2_000,
  reconnectSweepIntervalSeconds: given.reconnectSweepIntervalSeconds ?? 60,
  quarantineSeconds: given.quarantineSeconds ?? 60,
  stdioIdleSeconds: given.stdioIdleSeconds ?? 600,
  resourceInlineTextLimit: given.resourceInlineTextLimit ?? 32_000,
  surfaceRefreshIntervalSeconds: given.surfaceRefreshIntervalSeconds ?? 300,
  defaultTimeoutMs: given.defaultTimeoutMs ?? 60_000,
  maxTimeoutMs: given.maxTimeoutMs ?? 900_000,
  maxResponseBytes: given.maxResponseBytes ?? 32 * 1024 * 1024,
  stdio: given.stdio ?? 'off',
  attachmentMaxAgeDays: given.attachmentMaxAgeDays ?? 0,
  argGuards: given.argGuards ?? {},
  generateLlmSummaries: given.generateLlmSummaries ?? true,
  defaultElicitation: given.defaultElicitation ?? {},
  maxPendingQuestionsPerSession: given.maxPendingQuestionsPerSession ?? 5,
  maxPendingQuestions: given.maxPendingQuestions ?? 50,
  maxTasksPerSession: given.maxTasksPerSession ?? 3,
  maxTasks: given.maxTasks ?? 20,
  defaultTaskTimeoutMinutes: given.defaultTaskTimeoutMinutes ?? 60,
  taskPollMinMs: given.taskPollMinMs ?? 500,
  taskPollMaxMs: given.taskPollMaxMs ?? 30_000,
  taskPollFailureLimit: given.taskPollFailureLimit ?? 10,
  drainTimeoutMs: given.drainTimeoutMs ?? 5_000,
});
