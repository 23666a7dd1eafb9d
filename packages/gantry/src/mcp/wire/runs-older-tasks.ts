import { isObject } from '../../kernel/json.ts';

/** Whether a server of 2025 takes calls that are to run as tasks (`tasks.requests.tools.call`), by its capabilities. */
export const runsOlderTasks = (capabilities: object): boolean => {
  const tasks = memberOf(capabilities, 'tasks');
  return memberOf(memberOf(memberOf(tasks, 'requests'), 'tools'), 'call') !== undefined;
};

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
