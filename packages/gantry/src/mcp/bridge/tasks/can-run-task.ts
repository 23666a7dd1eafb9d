import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { isObject } from '../../../kernel/json.ts';
import type { CallContext } from '../../../tool/context.ts';
import { tasksExtension } from '../../wire/tasks-extension.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import type { Connection } from '../connection/open-connection.ts';

/** What a request says so that its server may answer with a task, or speak of one. */
export const taskCapabilities = (mayAsk: boolean): ClientCapabilities => ({
  ...(mayAsk && { elicitation: { form: {} } }),
  extensions: { [tasksExtension]: {} },
});

/** Whether the operator lets the server run tasks; a server that a model registered never may. */
export const hasTasks = ({ tasks, origin }: ServerEntry): boolean => tasks === true && origin !== 'agent';

/** Whether this call may go on in the background: its result has to reach the session later. */
export const mayRunTask = (
  entry: ServerEntry,
  { client, isModern }: Pick<Connection, 'client' | 'isModern'>,
  { receivesLateResults, namespace }: CallContext,
): boolean =>
  hasTasks(entry) &&
  isModern &&
  receivesLateResults === true &&
  /^(?:session|subagent)\/[^/]+$/.test(namespace ?? '') &&
  supportsTasks(client.getServerCapabilities());

const supportsTasks = (capabilities: unknown): boolean => {
  const extensions = isObject(capabilities) ? capabilities['extensions'] : undefined;
  return isObject(extensions) && Object.hasOwn(extensions, tasksExtension);
};
