import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { PassTarget } from '../../wire/pass-port.ts';

const methodsByCapability: Readonly<Record<string, readonly string[]>> = {
  tools: ['tools/list', 'tools/call'],
  prompts: ['prompts/list', 'prompts/get'],
  resources: ['resources/list', 'resources/templates/list', 'resources/read'],
  completions: ['completion/complete'],
};
const tasks = 'io.modelcontextprotocol/tasks';
const taskMethods = ['tasks/get', 'tasks/update', 'tasks/cancel'];

/**
 * What a client is offered of a server that speaks otherwise: all that can be said in the client's generation, and by which methods. What a
 * server says outside of its answers can be said only where it says it to this client alone.
 */
export const offeredBy = (
  { link, era }: Pick<PassTarget, 'link' | 'era'>,
  generation: 'modern' | 'legacy',
  isAlone: boolean,
): { readonly capabilities: JsonObject; readonly methods: readonly string[] } => {
  const offered = Object.keys(methodsByCapability).filter((name) => isObject(link.capabilities[name]));
  const methods = offered.flatMap((name) => methodsByCapability[name] ?? []);
  const logs = isAlone && isObject(link.capabilities['logging']);
  const flags = (name: string): JsonObject => {
    const said = link.capabilities[name];
    if (!isAlone || !isObject(said)) return {};
    return {
      ...(said['listChanged'] === true && { listChanged: true }),
      ...(name === 'resources' && said['subscribe'] === true && { subscribe: true }),
    };
  };
  const subscribes = flags('resources')['subscribe'] === true;
  const { extensions } = link.capabilities;
  const runsTasks = generation === 'modern' && era === 'modern' && isObject(extensions) && isObject(extensions[tasks]);
  return {
    capabilities: {
      ...Object.fromEntries(offered.map((name) => [name, flags(name)])),
      ...(logs && { logging: {} }),
      ...(runsTasks && { extensions: { [tasks]: {} } }),
    },
    methods: [
      ...methods,
      ...(logs && generation === 'legacy' ? ['logging/setLevel'] : []),
      ...(subscribes && generation === 'legacy' ? ['resources/subscribe', 'resources/unsubscribe'] : []),
      ...(runsTasks ? taskMethods : []),
    ],
  };
};
