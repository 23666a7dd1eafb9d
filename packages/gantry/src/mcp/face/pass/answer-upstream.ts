/**
 * What Gantry says to a server in the place of its client: that a question is declined. The client does not hear of it.
 */
import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { encodedHeader } from '../../wire/header-value.ts';
import type { PassTarget } from '../../wire/pass-port.ts';

/** The request whose answer asks. */
export interface AskedIn {
  readonly target: Pick<PassTarget, 'send'>;
  readonly message: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Declines a question that an older server asked as a request of its own. */
export const declineRequest = async (asked: AskedIn, id: unknown): Promise<void> => {
  // Without an id it waits for no answer.
  if (typeof id !== 'string' && typeof id !== 'number') return;
  await say(asked, { jsonrpc: '2.0', id, result: { action: 'decline' } }, {});
};

/**
 * Answers questions of a task (SEP-2663, `tasks/update`). The same question may be answered at each poll until the server has taken the
 * answer: nothing is kept here, and servers ignore an answer to what is answered.
 */
export const updateTask = async (asked: AskedIn, taskId: string, inputResponses: JsonObject): Promise<void> => {
  const given = isObject(asked.message?.['params']) ? asked.message['params']['_meta'] : undefined;
  const { progressToken: _other, ...meta } = isObject(given) ? given : {};
  const method = 'tasks/update';
  await say(
    asked,
    {
      jsonrpc: '2.0',
      id: newId(),
      method,
      params: { taskId, inputResponses, ...(given !== undefined && { _meta: meta }) },
    },
    { 'mcp-method': method, 'mcp-name': encodedHeader(taskId) },
  );
};

const say = async (
  { target, headers, signal }: AskedIn,
  message: object,
  more: Readonly<Record<string, string>>,
): Promise<void> => {
  const { 'last-event-id': _place, 'mcp-method': _method, 'mcp-name': _name, ...rest } = headers;
  const kept = Object.entries(rest).filter(([name]) => !name.startsWith('mcp-param-'));
  const response = await target.send({
    method: 'POST',
    headers: {
      ...Object.fromEntries(kept),
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...more,
    },
    body: JSON.stringify(message),
    signal,
  });
  await response.body?.cancel();
};
