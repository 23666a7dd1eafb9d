import { isObject } from '../../../kernel/json.ts';
import { runsOlderTasks } from '../../wire/runs-older-tasks.ts';
import type { Connection } from '../connection/open-connection.ts';
import type { Snapshot } from '../server/managed-server.ts';

/**
 * The tools whose calls a server of 2025 runs as tasks only. What a tool says counts where the server takes tasks at all (MCP 2025-11-25,
 * "Tool-Level Negotiation").
 */
export const toolsThatNeedTasks = (
  { client, isModern }: Pick<Connection, 'client' | 'isModern'>,
  { listed }: Pick<Snapshot['surface'], 'listed'>,
): ReadonlySet<string> => {
  if (isModern || !runsOlderTasks(client.getServerCapabilities() ?? {})) return new Set();
  return new Set(listed.filter(isRequired).map(({ name }) => name));
};

const isRequired = (tool: object): boolean =>
  'execution' in tool && isObject(tool.execution) && tool.execution['taskSupport'] === 'required';
