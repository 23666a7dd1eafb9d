import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import { runsOlderTasks } from '../../wire/runs-older-tasks.ts';
import { tasksExtension } from '../../wire/tasks-extension.ts';

const methodsByCapability: Readonly<Record<string, readonly string[]>> = {
  tools: ['tools/list', 'tools/call'],
  prompts: ['prompts/list', 'prompts/get'],
  resources: ['resources/list', 'resources/templates/list', 'resources/read'],
  completions: ['completion/complete'],
};

/**
 * What a client is offered of a server that speaks otherwise: all that can be said in the client's generation, and by which methods.
 */
export const offeredBy = (
  { link, era }: Pick<PassTarget, 'link' | 'era'>,
  generation: 'modern' | 'legacy',
): { readonly capabilities: JsonObject; readonly methods: readonly string[] } => {
  const offered = Object.keys(methodsByCapability).filter((name) => isObject(link.capabilities[name]));
  const methods = offered.flatMap((name) => methodsByCapability[name] ?? []);
  const logs = isObject(link.capabilities['logging']);
  const flags = (name: string): JsonObject => {
    const said = link.capabilities[name];
    if (!isObject(said)) return {};
    return {
      ...(said['listChanged'] === true && { listChanged: true }),
      ...(name === 'resources' && said['subscribe'] === true && { subscribe: true }),
    };
  };
  const subscribes = flags('resources')['subscribe'] === true;
  const tasks = tasksOf(link.capabilities, era, generation);
  return {
    capabilities: {
      ...Object.fromEntries(offered.map((name) => [name, flags(name)])),
      ...(logs && { logging: {} }),
      ...tasks?.capabilities,
    },
    methods: [
      ...methods,
      ...(logs && generation === 'legacy' ? ['logging/setLevel'] : []),
      ...(subscribes && generation === 'legacy' ? ['resources/subscribe', 'resources/unsubscribe'] : []),
      ...(tasks?.methods ?? []),
    ],
  };
};

/** Whether the server runs tasks, in either form of them. */
export const runsTasks = (capabilities: JsonObject, era: PassTarget['era']): boolean => {
  if (era === 'legacy') return runsOlderTasks(capabilities);
  const { extensions } = capabilities;
  return isObject(extensions) && isObject(extensions[tasksExtension]);
};

/** How tasks are offered. A list of them there is for nobody: to a server its clients are one, and 2026 has none. */
const tasksOf = (
  capabilities: JsonObject,
  era: PassTarget['era'],
  generation: 'modern' | 'legacy',
): { readonly capabilities: JsonObject; readonly methods: readonly string[] } | undefined => {
  if (!runsTasks(capabilities, era)) return undefined;
  if (generation === 'modern')
    return {
      capabilities: { extensions: { [tasksExtension]: {} } },
      methods: ['tasks/get', 'tasks/update', 'tasks/cancel'],
    };
  const { tasks } = capabilities;
  const cancels = era === 'modern' || (isObject(tasks) && isObject(tasks['cancel']));
  return {
    capabilities: { tasks: { requests: { tools: { call: {} } }, ...(cancels && { cancel: {} }) } },
    methods: ['tasks/get', 'tasks/result', ...(cancels ? ['tasks/cancel'] : [])],
  };
};
