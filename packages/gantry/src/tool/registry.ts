import { GantryError } from '../kernel/errors.ts';
import type { Tool, ToolExecutor } from './executor.ts';
import type { ToolDefinition, ToolRegistration } from './registration.ts';
import { toRegistration } from './registration.ts';

/** The one directory of registered tools. Names are compared exactly; an alias stands for its tool wherever a name is looked up. */
export interface ToolRegistry {
  /** Grows with every change; equal versions mean equal contents. */
  readonly version: number;
  /** A snapshot ordered by source, then name; later changes do not touch it. */
  getTools(): readonly ToolRegistration[];
  get(name: string): Tool | undefined;
  getExecutor(name: string): ToolExecutor | undefined;
  /**
   * Adds a tool.
   * @throws {GantryError} `tool_exists` when the name or an alias is taken; the tool that has it stays. `invalid_registration` when the
   * registration or the executor is missing or breaks the contract.
   */
  register(definition: ToolDefinition, executor: ToolExecutor): void;
  /** Removes the tool of that name (not alias); says whether there was one. Its names are free again. */
  unregister(name: string): boolean;
  /** Adds and removes many as one change of version, with one notice. Additions whose name is taken are returned, not made. */
  replace(change: { readonly remove: readonly string[]; readonly add: readonly Tool[] }): readonly Tool[];
  /** Calls `listener` after each change. Returns the way to stop it. */
  onChange(listener: () => void): () => void;
}

/** Makes an empty registry. */
export const createToolRegistry = (): ToolRegistry => {
  const tools = new Map<string, Tool>();
  const aliased = new Map<string, Tool>();
  const listeners = new Set<() => void>();
  let version = 0;
  let snapshot: readonly ToolRegistration[] | undefined;

  const changed = (): void => {
    version += 1;
    snapshot = undefined;
    for (const listener of listeners) listener();
  };

  const get = (name: string): Tool | undefined => tools.get(name) ?? aliased.get(name);
  const put = (tool: Tool): void => {
    tools.set(tool.registration.name, tool);
    for (const alias of tool.registration.aliases ?? []) aliased.set(alias, tool);
  };
  const take = (name: string): boolean => {
    for (const alias of tools.get(name)?.registration.aliases ?? []) aliased.delete(alias);
    return tools.delete(name);
  };
  const takenOf = ({ name, aliases = [] }: Pick<ToolRegistration, 'name' | 'aliases'>): string | undefined =>
    [name, ...aliases].find((one) => get(one) !== undefined);

  return {
    get version() {
      return version;
    },
    getTools: () =>
      (snapshot ??= Object.freeze([...tools.values()].map((tool) => tool.registration).sort(bySourceThenName))),
    get,
    getExecutor: (name) => get(name)?.executor,
    register: (definition, executor) => {
      const registration = toRegistration(definition);
      if (typeof executor?.execute !== 'function')
        throw new GantryError('invalid_registration', `Tool "${registration.name}": an executor is needed.`, {
          details: { name: registration.name, problem: 'no executor' },
        });
      const taken = takenOf(registration);
      const owner = taken === undefined ? undefined : get(taken)?.registration;
      if (owner)
        throw new GantryError(
          'tool_exists',
          `Tool "${taken}" is already registered (source ${owner.source}${owner.name === taken ? '' : `, as another name of "${owner.name}"`}); unregister it first or choose another name.`,
          { details: { name: taken, source: owner.source } },
        );
      put({ registration, executor });
      changed();
    },
    unregister: (name) => {
      const removed = take(name);
      if (removed) changed();
      return removed;
    },
    replace: ({ remove, add }) => {
      let touched = false;
      for (const name of remove) touched = take(name) || touched;
      const refused: Tool[] = [];
      for (const tool of add) {
        if (takenOf(tool.registration) !== undefined) refused.push(tool);
        else {
          put({ ...tool, registration: toRegistration(tool.registration) });
          touched = true;
        }
      }
      if (touched) changed();
      return refused;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};

/** The order in which tools are listed everywhere: by source, then by name, in code-unit order. */
export const bySourceThenName = (a: ToolRegistration, b: ToolRegistration): number =>
  compare(a.source, b.source) || compare(a.name, b.name);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
