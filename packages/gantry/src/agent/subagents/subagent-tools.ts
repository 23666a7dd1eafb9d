import * as z from 'zod';
import { GantryError } from '../../kernel/errors.ts';
import { flattenText } from '../../text/flatten.ts';
import type { CallContext } from '../../tool/context.ts';
import { defineTool } from '../../tool/define-tool.ts';
import type { Tool } from '../../tool/executor.ts';
import { toNamedFile } from '../../tool/opaque-ids.ts';
import type { InputSources } from './read-inputs.ts';
import { readInputs } from './read-inputs.ts';
import { subagentNamespace } from './subagent-record.ts';
import { describeRunning } from './subagent-texts.ts';
import type { Subagents } from './subagents.ts';

const source = 'subagent';
const minuteMs = 60_000;
const mostMinutes = 240;
const mostIterations = 200;
const mostInputs = 20;
const researchIterations = 20;
const maxDescriptionChars = 20_000;

const research =
  /\b(analy[sz]e|compare|comprehensive|evaluate|explore|find out|gather|in[- ]depth|investigate|literature|look into|research|review|study|survey)\b/i;

/**
 * Only a conversation has somebody who is told of the result: a scheduled run, a pipeline and a subagent itself have not.
 */
const isConversation = ({ namespace, caller }: CallContext): boolean =>
  (caller === 'model' || caller === 'operator') && /^session\/[^/]+$/.test(namespace ?? '');

/** The tools by which a conversation starts, lists and ends subagents. */
export const subagentTools = (
  subagents: Pick<Subagents, 'spawn' | 'cancel' | 'list'>,
  options: InputSources & { readonly defaultTimeoutMinutes: number },
): readonly Tool[] => [
  defineTool({
    name: 'spawn_subagent',
    description:
      'Hands a task to a subagent that works on its own, beside this conversation, and returns its task_id at once. Its reports and its result come later, as notices of their own; do not wait for them or ask in a loop. The subagent sees nothing of this conversation: the description must say everything it needs. For work of many steps, or several independent ones at a time; do short tasks yourself.',
    source,
    available: isConversation,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    input: z.strictObject({
      description: z
        .string()
        .trim()
        .min(1)
        .max(maxDescriptionChars)
        .describe('The task: what to do, with all names and facts it needs, and what to give back.'),
      context: z
        .string()
        .max(maxDescriptionChars)
        .optional()
        .describe('Background that helps, such as what the user wants with the result.'),
      timeout_minutes: z
        .number()
        .positive()
        .max(mostMinutes)
        .optional()
        .describe(`Minutes after which it is ended; default ${options.defaultTimeoutMinutes}.`),
      max_iterations: z.int().min(1).max(mostIterations).optional().describe('The most rounds of tool calls.'),
      consolidate: z
        .boolean()
        .optional()
        .describe(
          'true (default): its result is told together with those of the subagents that run beside it. false: as soon as it is there.',
        ),
      inputs: z
        .array(z.string().min(1))
        .max(mostInputs)
        .optional()
        .describe(
          'Keys of working memory or paths of the shared folder that it is to work with; they are handed over.',
        ),
    }),
    execute: async (args, context) => {
      const { namespace } = context;
      if (namespace === undefined) throw noConversation();
      const { description, context: background, max_iterations: asked, timeout_minutes: minutes, inputs = [] } = args;
      const named = inputs.map((name) => toNamedFile(name, context.ids));
      const task = {
        description,
        background,
        inputs: named.length === 0 ? undefined : await readInputs(named, namespace, options),
        timeoutMs: minutes === undefined ? undefined : minutes * minuteMs,
        // Research that is cut off after a few calls is worth nothing.
        maxIterations: asked !== undefined && research.test(description) ? Math.max(asked, researchIterations) : asked,
        consolidate: args.consolidate ?? true,
      };
      const taskId = await subagents.spawn(task, { ...context, namespace });
      return `A subagent has started with task_id ${taskId}. Its result comes as a notice in this conversation; until then go on, or end your turn. What it writes lies below "${subagentNamespace(taskId)}/" in working memory.`;
    },
  }),
  defineTool({
    name: 'cancel_subagent',
    description: 'Ends a subagent of this conversation before it has finished.',
    source,
    available: isConversation,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({ task_id: z.string().trim().min(1).describe('As spawn_subagent gave it.') }),
    execute: async ({ task_id: taskId }, { namespace = '' }) => {
      if (await subagents.cancel(taskId, namespace)) return `Subagent ${taskId} was cancelled.`;
      return `There is no active subagent "${flattenText(taskId, { maxChars: 40 })}". ${describeRunning(subagents.list(namespace))}`;
    },
  }),
  defineTool({
    name: 'list_subagents',
    description:
      'Lists the active subagents of this conversation. Their results come by themselves; this is for choosing one to cancel.',
    source,
    available: isConversation,
    annotations: { readOnlyHint: true, openWorldHint: false },
    execute: (_, { namespace = '' }) => describeRunning(subagents.list(namespace)),
  }),
];

const noConversation = (): GantryError =>
  new GantryError('invalid_arguments', 'This call belongs to no conversation, so nobody could be told of the result.');
