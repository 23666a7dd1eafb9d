import { flattenText } from '../../../text/flatten.ts';
import { reportedFailure } from '../../../tool/messages.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { ConnectionFault } from '../connection/connection-errors.ts';
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

/** The outcome of a call that got no usable answer. */
export const faultOutcome = (server: string, fault: ConnectionFault): Outcome => {
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
      return failedOutcome(
        'execution_failed',
        isNamed ? text : `Server "${server}" cannot be reached: ${text}`,
        'later',
      );
    case 'cut_off':
      return failedOutcome('execution_failed', text, 'later');
    case 'bad_answer':
      return failedOutcome('execution_failed', isNamed ? text : `Server "${server}": ${text}`);
  }
};

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
