import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { Tool } from '../tool/executor.ts';

/** Source of the tool by which those report who work for an agent. */
export const reportSource = 'subagent-report';

const maxReportChars = 4_000;
const delegated = /^(?:subagent|worker)\/[^/]+$/;

/** `report_progress`: a subagent or a worker tells who started it how it gets on. */
export const reportTool = (report: (namespace: string, message: string) => Promise<void>): Tool =>
  defineTool({
    name: 'report_progress',
    description:
      'Tells the agent that handed you this task about a significant step or finding. Your work goes on; there is no answer.',
    source: reportSource,
    available: ({ caller, namespace = '' }) => caller === 'model' && delegated.test(namespace),
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: z.strictObject({ message: z.string().trim().min(1).max(maxReportChars).describe('One or two sentences.') }),
    execute: async ({ message }, { namespace }) => {
      if (namespace === undefined)
        throw new GantryError('invalid_arguments', 'This call belongs to no task, so there is nobody to report to.');
      await report(namespace, message);
      return 'Reported. Go on.';
    },
  });
