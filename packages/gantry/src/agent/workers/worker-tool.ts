import * as z from 'zod';
import { GantryError } from '../../kernel/errors.ts';
import { foldKey, isBelow, normalizeKey, sharedNamespace } from '../../memory/memory-key.ts';
import { truncateText } from '../../text/truncate.ts';
import type { CallContext } from '../../tool/context.ts';
import { defineTool } from '../../tool/define-tool.ts';
import type { Tool } from '../../tool/executor.ts';
import type { WorkerDefinition, WorkerResult } from './worker-definition.ts';
import type { Workers } from './workers.ts';

const minuteMs = 60_000;
const defaultMinutes = 5;
const mostMinutes = 60;
const mostWorkers = 20;
const mostPatterns = 20;
const maxDescriptionChars = 20_000;
const previewChars = 500;

const definition = z.strictObject({
  description: z
    .string()
    .trim()
    .min(1)
    .max(maxDescriptionChars)
    .describe('The task, with all names and facts it needs, and what to give back.'),
  context: z.string().max(maxDescriptionChars).optional().describe('Background that helps.'),
  result_key: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .describe('Key of working memory for its result; default one of its own, which is returned.'),
  timeout_minutes: z
    .number()
    .positive()
    .max(mostMinutes)
    .optional()
    .describe(`Minutes after which it is ended; default ${defaultMinutes}.`),
  tools_allow: z
    .array(z.string().trim().min(1).max(200))
    .min(1)
    .max(mostPatterns)
    .optional()
    .describe('The only tools of servers that it has: {server}.{tool}, such as "calendar.*". Default: it finds them.'),
});

/** `spawn_workers`: runs small agents side by side and waits for them. Offered neither to workers nor to pipelines. */
export const workerTool = (workers: Pick<Workers, 'run'>): Tool =>
  defineTool({
    name: 'spawn_workers',
    description:
      'Lets small agents work side by side on one task each, and waits for them. For several alike tasks of a few calls each that need some thinking as they go: results go to working memory, and only the beginning of each comes here. For steps that are known beforehand use spawn_wisps; for long work that should go on beside the conversation, spawn_subagent.',
    source: 'worker',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    available: ({ caller, namespace = '' }) =>
      (caller === 'model' || caller === 'operator') && !/^(?:worker|wisp)\//.test(namespace),
    input: z.strictObject({
      definitions: z.array(definition).min(1).max(mostWorkers).describe('One for each worker.'),
    }),
    // Each worker has a time of its own.
    timeoutMs: 0,
    execute: async ({ definitions }, context) => {
      const taken = new Set<string>();
      const tasks = definitions.map((one): WorkerDefinition => ({
        description: one.description,
        background: one.context,
        resultKey: one.result_key === undefined ? undefined : toResultKey(one.result_key, context, taken),
        timeoutMs: (one.timeout_minutes ?? defaultMinutes) * minuteMs,
        toolsAllow: one.tools_allow,
      }));
      const results = await workers.run(tasks, context);
      const failed = results.filter(({ isSuccess }) => !isSuccess).length;
      const opening = failed === 0 ? '' : failed === results.length ? 'ALL WORKERS FAILED: ' : 'PARTIAL FAILURE: ';
      return [
        `${opening}${results.length} worker(s) ended (${results.length - failed} succeeded, ${failed} failed). Whole results, for four hours: get_from_working_memory(resultKey).`,
        JSON.stringify(results.map(toReport)),
      ].join('\n');
    },
  });

/** @throws {GantryError} `invalid_arguments` for a key that the caller may not write, or gave twice. */
const toResultKey = (key: string, { namespace = sharedNamespace }: CallContext, taken: Set<string>): string => {
  const full = key.includes('/') ? normalizeKey(key) : normalizeKey(`${namespace}/${key}`);
  const isWritable = [namespace, sharedNamespace].some((one) => isBelow(full, one));
  if (!isWritable)
    throw refused(
      `"result_key" is "${full}"; it must lie below "${namespace}/" or "${sharedNamespace}/", or have no "/"`,
    );
  if (taken.has(foldKey(full))) throw refused(`"result_key" "${full}" was given to two workers; give each its own`);
  taken.add(foldKey(full));
  return full;
};

const refused = (problem: string): GantryError =>
  new GantryError('invalid_arguments', `No worker was started: ${problem}.`);

const toReport = ({ text, isBlocked, durationMs, toolMs, ...rest }: WorkerResult): object => ({
  taskId: rest.taskId,
  description: truncateText(rest.description, 120),
  isSuccess: rest.isSuccess,
  resultKey: rest.resultKey ?? null,
  result: truncateText(text, previewChars),
  factsRecorded: rest.factsRecorded,
  blocked: isBlocked,
  convergedPatterns: rest.convergedPatterns,
  durations: { totalMs: durationMs, toolsMs: toolMs },
  ...(rest.failureReason === undefined ? {} : { failureReason: truncateText(rest.failureReason, previewChars) }),
});
