import * as z from 'zod';
import { GantryError } from '../../kernel/errors.ts';
import type { Envelope } from '../../bus/envelope.ts';

/** Names of the messages between whoever wants a script run and the scripts manager. */
export const scriptMessageTypes = {
  request: 'ScriptInvokeRequest',
  response: 'ScriptInvokeResponse',
  /** Published on `script.cancel` with the correlation id of the request; the body is empty. */
  cancel: 'ScriptCancel',
} as const;

/** Asks a scripts manager to run a Python script; published on `script.invoke`. */
export interface ScriptInvokeRequest {
  readonly toolCallId: string;
  readonly script: string;
  readonly inputData?: string | undefined;
  /** Default 30. */
  readonly timeoutSeconds: number;
  readonly pipPackages?: readonly string[] | undefined;
}

/**
 * What became of it; published on the request's `replyTo`, else on `script.result`, with its correlation id. `exitCode` is that
 * of the script, 0 for success, and −1 when the manager could not run it, with the reason in `stderr`. What follows `elapsedMs` is
 * ours: managers may leave it out.
 */
export interface ScriptInvokeResponse {
  readonly toolCallId: string;
  readonly output?: string | undefined;
  readonly stderr?: string | undefined;
  readonly exitCode: number;
  readonly elapsedMs: number;
  readonly outcome?: 'success' | 'failed' | 'timeout' | 'limit' | undefined;
  readonly signal?: string | undefined;
  readonly limit?: 'time' | 'cpu' | 'memory' | 'processes' | 'output' | 'file-size' | 'disk' | undefined;
  /** How it ended, for a reader. */
  readonly message?: string | undefined;
  /** All that the script wrote, where `output` or `stderr` were cut. */
  readonly outputBytes?: number | undefined;
  readonly stderrBytes?: number | undefined;
}

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? undefined);

const request = z.object({
  toolCallId: z.string(),
  script: z.string(),
  inputData: text,
  timeoutSeconds: z.number().positive().default(30),
  pipPackages: z
    .array(z.string())
    .nullish()
    .transform((value) => value ?? undefined),
});

const response = z.object({
  toolCallId: z.string(),
  output: text,
  stderr: text,
  exitCode: z.number().int(),
  elapsedMs: z.number().default(0),
  outcome: z.enum(['success', 'failed', 'timeout', 'limit']).optional(),
  signal: text,
  limit: z.enum(['time', 'cpu', 'memory', 'processes', 'output', 'file-size', 'disk']).optional(),
  message: text,
  outputBytes: z.number().optional(),
  stderrBytes: z.number().optional(),
});

/** Reads a request; undefined when the body is none. */
export const parseScriptRequest = ({ body }: Envelope): ScriptInvokeRequest | undefined => request.safeParse(body).data;

/** Reads a response. @throws {GantryError} `execution_failed` when the body is none. */
export const parseScriptResponse = ({ body }: Envelope): ScriptInvokeResponse => {
  const found = response.safeParse(body);
  if (found.success) return found.data;
  throw new GantryError('execution_failed', 'The scripts manager gave an answer that cannot be read.', {
    cause: found.error,
  });
};
