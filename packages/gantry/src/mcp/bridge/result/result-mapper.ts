import type { Log } from '../../../kernel/log.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { CallContext } from '../../../tool/context.ts';
import { callerRules } from '../../../tool/context.ts';
import { reportedFailure } from '../../../tool/messages.ts';
import type { Outcome, ToolReport } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { Volume } from '../../../volume/volume.ts';
import type { ReceiveFile } from '../attachments/passthrough.ts';
import type { AttachmentsEntry } from '../config/attachments-entry.ts';
import { captureBinary } from './capture-binary.ts';
import { readResult } from './read-result.ts';

/** Turns what a server answered into the outcome of the call. */
export type MapResult = (
  raw: unknown,
  call: {
    readonly server: string;
    readonly tool: string;
    readonly context: CallContext;
    /** Of the server's entry: whether and where bytes are captured. */
    readonly attachments?: AttachmentsEntry | undefined;
    /** Takes the place of capturing for a call that wants the tool's file saved. */
    readonly receive?: ReceiveFile | undefined;
  },
) => Promise<Outcome>;

/** Makes the mapper. Bytes go to the shared folder for the callers whose rule says so. */
export const createResultMapper =
  (options: { volume: Pick<Volume, 'saveNew'>; log: Log }): MapResult =>
  async (raw, { server, tool, context, attachments, receive }) => {
    const result = readResult(raw);
    switch (result.kind) {
      case 'complete': {
        if (result.isError) return reportedFailure(result.report);
        if (receive) return await receive(result.report);
        return { status: 'done', ...(await captured(result.report, tool, context, attachments?.capture, options)) };
      }
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
  capture: AttachmentsEntry['capture'],
  options: { volume: Pick<Volume, 'saveNew'>; log: Log },
): Promise<ToolReport> => {
  const rule = callerRules[caller].binaryCaptured;
  if (rule === false || (rule === 'if-shared' && !sharesFolder) || capture?.enabled === false) return report;
  const found = await captureBinary(report, { ...options, tool, rules: capture?.rules });
  if (!found) return report;
  const { attachments } = found;
  // An operator gets the files and the blocks as they came; programs get the structured value as it came.
  if (caller === 'operator') return { ...report, attachments };
  return caller === 'model'
    ? { ...found.report, attachments }
    : { ...found.report, structured: report.structured, attachments };
};

const shown = (text: string): string => flattenText(text, { maxChars: 100 });
