import { flattenText } from '../../../text/flatten.ts';
import { reportedFailure } from '../../../tool/messages.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import type { ConnectionFault } from '../connection/connection-errors.ts';
import { brokenOff } from '../connection/lost-answer.ts';
import type { CallBudget } from './call-budget.ts';

/** The outcome of a call that was ended before its answer. */
export const endedOutcome = (server: string, tool: string, budget: CallBudget): Outcome => {
  const shown = flattenText(tool, { maxChars: 100 });
  switch (budget.ended) {
    case 'too_long':
      return failedOutcome(
        'timeout',
        `Server "${server}" reported progress but gave no result for tool "${shown}" within ${budget.maxTimeoutMs} ms, the most a call may take.`,
        'later',
      );
    case 'cancelled':
      return failedOutcome('execution_failed', `The call to tool "${shown}" was cancelled by its caller.`);
    case 'stopped':
      return failedOutcome(
        'execution_failed',
        `The call to tool "${shown}" was ended because Gantry is stopping.`,
        'later',
      );
    case 'silent':
    case undefined:
      return failedOutcome(
        'timeout',
        `Server "${server}" gave no result for tool "${shown}" within ${budget.timeoutMs} ms.`,
        'later',
      );
  }
};

/** Whether a tool may be called twice for one wish: its server says that it changes nothing, or nothing more the second time. */
export const isHarmlessTwice = ({ annotations }: Pick<DownstreamTool, 'annotations'>): boolean =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true;

/**
 * The outcome of a call that got no usable answer. It is worth another try only where the call cannot have run, or may run twice.
 * @param sentTool The tool whose call was sent; leave it out where nothing of the call can have reached the server.
 */
export const faultOutcome = (
  server: string,
  fault: ConnectionFault,
  sentTool?: Pick<DownstreamTool, 'annotations'>,
): Outcome => {
  const text = flattenText(fault.message, { maxChars: 1_000 });
  // What the bridge itself says begins with the name already.
  const isNamed = fault.message.startsWith(`Server "${server}" `);
  switch (fault.kind) {
    case 'refused':
      return refusedOutcome(server, fault);
    case 'auth':
      return failedOutcome(
        'auth_required',
        isNamed
          ? text
          : `Server "${server}" did not take the call: ${text}. Sign in with "gantry servers login ${server}".`,
      );
    case 'session_lost':
      return failedOutcome(
        'execution_failed',
        `The session with server "${server}" was lost, and a new one too: ${text}.`,
        'later',
      );
    case 'disconnected':
      // Status 503 says of itself that it is worth another try; of 502 and 504 nobody knows what was behind them.
      return sentTool && !fault.notRun && fault.status !== 503
        ? unknownOutcome(whatBroke(server, text, fault.status), sentTool)
        : failedOutcome('execution_failed', isNamed ? text : `Server "${server}" cannot be reached: ${text}`, 'later');
    case 'cut_off':
      return sentTool ? unknownOutcome(text, sentTool) : failedOutcome('execution_failed', text, 'later');
    case 'bad_answer':
      return failedOutcome('execution_failed', isNamed ? text : `Server "${server}": ${text}`);
  }
};

const whatBroke = (server: string, reason: string, status: number | undefined): string =>
  status === undefined
    ? brokenOff(server, reason)
    : `Server "${server}": ${reason}; whether the request was carried out is unknown.`;

// The tool may have run: the caller is told so, and not to try again without a look.
const unknownOutcome = (message: string, sentTool: Pick<DownstreamTool, 'annotations'>): Outcome =>
  isHarmlessTwice(sentTool)
    ? failedOutcome('execution_failed', message, 'later')
    : failedOutcome('execution_failed', `${message} Check what it did before you call the tool again.`);

const invalidParams = -32_602;
const methodNotFound = -32_601;

// The server read the call and says what is wrong with it: that is for the model to read, as an error result of the tool would be.
const refusedOutcome = (server: string, fault: Extract<ConnectionFault, { kind: 'refused' }>): Outcome =>
  fault.code === invalidParams || fault.code === methodNotFound
    ? reportedFailure({ parts: [{ type: 'text', text: `MCP error ${fault.code}: ${fault.message}` }] })
    : failedOutcome(
        'execution_failed',
        `Server "${server}" answered with error ${fault.code}: ${flattenText(fault.message, { maxChars: 1_000 })}`,
        'later',
      );
