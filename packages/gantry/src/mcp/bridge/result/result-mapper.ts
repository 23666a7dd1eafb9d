import type { Log } from '../../../kernel/log.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { CallContext } from '../../../tool/context.ts';
import { callerRules } from '../../../tool/context.ts';
import { reportedFailure } from '../../../tool/messages.ts';
import type { Outcome, ToolReport } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { Volume } from '../../../volume/volume.ts';
import { captureBinary, isBinary } from './capture-binary.ts';
import { readResult } from './read-result.ts';

/** Turns what a server answered into the outcome of the call. */
export type MapResult = (
  raw: unknown,
  call: { readonly server: string; readonly tool: string; readonly context: CallContext },
) => Promise<Outcome>;

/** Makes the mapper. Bytes go to the shared folder for the callers whose rule says so. */
export const createResultMapper =
  (options: { volume: Volume; log: Log }): MapResult =>
  async (raw, { server, tool, context }) => {
    const result = readResult(raw);
    switch (result.kind) {
      case 'complete': {
        const report = await captured(result.report, tool, context, options);
        return result.isError ? reportedFailure(report) : { status: 'done', ...report };
      }
      case 'input_required':
        return failedOutcome('execution_failed', unanswered(server, tool, result.questions));
      case 'task':
        return failedOutcome(
          'execution_failed',
          `Server "${server}" runs tool "${shown(tool)}" in the background, which is not followed yet; whether it finishes is unknown.`,
        );
      case 'unknown':
        return failedOutcome(
          'execution_failed',
          `Server "${server}" answered with a result of the unknown kind "${shown(result.resultType)}".`,
        );
    }
  };

const captured = async (
  report: ToolReport,
  tool: string,
  { caller, sharesFolder }: CallContext,
  options: { volume: Volume; log: Log },
): Promise<ToolReport> => {
  const rule = callerRules[caller].binaryCaptured;
  if (rule === false || (rule === 'if-shared' && !sharesFolder) || !report.parts.some(isBinary)) return report;
  const { parts, attachments } = await captureBinary(report.parts, { ...options, tool });
  // An operator gets the files and the blocks as they came.
  return { ...report, parts: caller === 'operator' ? report.parts : parts, attachments };
};

const unanswered = (server: string, tool: string, questions: readonly string[]): string => {
  const asked = questions.map((question) => `"${flattenText(question, { maxChars: 300 })}"`).join(', ');
  return `Server "${server}" asks before it runs tool "${shown(tool)}"${asked === '' ? '' : `: ${asked}`}. Questions of servers are not answered yet, so the call ended without a result.`;
};

const shown = (text: string): string => flattenText(text, { maxChars: 100 });
