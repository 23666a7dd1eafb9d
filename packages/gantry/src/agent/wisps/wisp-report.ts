import type { Json } from '../../kernel/json.ts';
import { flattenText } from '../../text/flatten.ts';
import { truncateText } from '../../text/truncate.ts';
import type { WispResult } from './run-wisp.ts';

const previewChars = 2_000;
const messageChars = 2_000;

/** A batch that has ended. */
export interface WispBatch {
  readonly batchId: string;
  readonly results: readonly WispResult[];
  /** Key of the summary in working memory, as it is stored. */
  readonly summaryKey: string | undefined;
}

/** What the caller gets of a batch. */
export const reportBatch = ({ batchId, results, summaryKey }: WispBatch): string => {
  const total = results.length;
  const succeeded = results.filter(({ isSuccess }) => isSuccess).length;
  const failed = total - succeeded;
  const opening = failed === 0 ? '' : failed === total ? 'ALL WISPS FAILED: ' : 'PARTIAL FAILURE: ';
  return [
    `${opening}${total} wisp(s) completed (${succeeded} succeeded, ${failed} failed, ${total} total).`,
    ...results.map(reportWisp),
    `Batch ${batchId}.${summaryKey === undefined ? '' : ` Summary, for 60 minutes: get_from_working_memory("${summaryKey}").`}`,
  ].join('\n\n');
};

const reportWisp = ({
  wispId,
  definition,
  isSuccess,
  durationMs,
  steps,
  output,
  failure,
  warnings,
}: WispResult): string => {
  const head = `${wispId} "${flattenText(definition.description, { maxChars: 120 })}": ${isSuccess ? 'ok' : 'FAILED'}, ${durationMs} ms`;
  const done = steps.filter(({ status }) => status === 'done').map(({ id }) => id);
  const failing = failure && [
    `- step ${failure.stepId === undefined ? '(none ran)' : `"${failure.stepId}"`}, ${failure.category}: ${truncateText(failure.message, messageChars)}`,
    ...(failure.tool === undefined ? [] : [`- tool: ${failure.tool}`]),
    `- completed steps: ${done.length === 0 ? 'none' : done.join(', ')}`,
    ...(done.length > 0
      ? [`- their outputs, for 60 minutes: ${done.map((id) => `\`wisp/${wispId}/${id}/output\``).join(', ')}`]
      : []),
  ];
  return [
    head,
    ...(failing ?? [truncateText(output ?? '(nothing: every step was skipped or failed)', previewChars)]),
    ...(isSuccess && output !== undefined && output.length > previewChars
      ? [`- the whole of it, for 5 minutes: \`wisp/${wispId}/${done.at(-1)}/output\``]
      : []),
    ...warnings.map((warning) => `- note: ${warning}`),
  ].join('\n');
};

/** The same for programs, as it is kept in working memory. */
export const summarizeBatch = (batchId: string, results: readonly WispResult[]): Json => ({
  batchId,
  total: results.length,
  succeeded: results.filter(({ isSuccess }) => isSuccess).length,
  failed: results.filter(({ isSuccess }) => !isSuccess).length,
  wisps: results.map(({ wispId, definition, isSuccess, durationMs, steps, output, failure, warnings }) => ({
    wispId,
    description: definition.description,
    isSuccess,
    durationMs,
    steps: steps.map(({ id, status, durationMs: took }) => ({ id, status, durationMs: took })),
    output: output === undefined ? undefined : truncateText(output, previewChars),
    failure: failure && {
      category: failure.category,
      message: truncateText(failure.message, messageChars),
      stepId: failure.stepId,
      tool: failure.tool,
    },
    warnings: [...warnings],
  })),
});
