import { GantryError } from '../kernel/errors.ts';
import type { Tool, ToolExecutor } from './executor.ts';
import type { ToolDefinition, ToolRegistration } from './registration.ts';
import { toRegistration } from './registration.ts';

/** The one directory of registered tools. Names are compared exactly. */
export interface ToolRegistry {
  /** Grows with every change; equal versions mean equal contents. */
  readonly version: number;
  /** A snapshot ordered by source, then name; later changes do not touch it. */
  getTools(): readonly ToolRegistration[];
  get(name: string): Tool | undefined;
  getExecutor(name: string): ToolExecutor | undefined;
  /**
   * Adds a tool.
   * @throws {GantryError} `tool_exists` when the name is taken; the tool that has it stays. `invalid_registration` when the
   * registration or the executor is missing or breaks the contract.
   */
  register(definition: ToolDefinition, executor: ToolExecutor): void;
  /** Removes a tool; says whether there was one. Its name is free again. */
  unregister(name: string): boolean;
  /** Adds and removes many as one change of version, with one notice. Additions whose name is taken are returned, not made. */
  replace(change: { readonly remove: readonly string[]; readonly add: readonly Tool[] }): readonly Tool[];
  /** Calls `listener` after each change. Returns the way to stop it. */
  onChange(listener: () => void): () => void;
}

/** Makes an empty registry. */
export const createToolRegistry = (): ToolRegistry => {
  const tools = new Map<string, Tool>();
  const listeners = new Set<() => void>();
  let version = 0;
  let snapshot: readonly ToolRegistration[] | undefined;

  const changed = (): void => {
    version += 1;
    snapshot = undefined;
    for (const listener of listeners) listener();
  };

  return {
    get version() {
      return version;
    },
    getTools: () =>
      (snapshot ??= Object.freeze([...tools.values()].map((tool) => tool.registration).sort(bySourceThenName))),
    get: (name) => tools.get(name),
    getExecutor: (name) => tools.get(name)?.executor,
    register: (definition, executor) => {
      const registration = toRegistration(definition);
      if (typeof executor?.execute !== 'function')
        throw new GantryError('invalid_registration', `Tool "${registration.name}": an executor is needed.`, {
          details: { name: registration.name, problem: 'no executor' },
        });
      const owner = tools.get(registration.name);
      if (owner)
        throw new GantryError(
          'tool_exists',
          `Tool "${registration.name}" is already registered (source ${owner.registration.source}); unregister it first or choose another name.`,
          { details: { name: registration.name, source: owner.registration.source } },
        );
      tools.set(registration.name, { registration, executor });
      changed();
    },
    unregister: (name) => {
      const removed = tools.delete(name);
      if (removed) changed();
      return removed;
    },
    replace: ({ remove, add }) => {
      let touched = false;
      for (const name of remove) touched = tools.delete(name) || touched;
      const refused: Tool[] = [];
      for (const tool of add) {
        if (tools.has(tool.registration.name)) refused.push(tool);
        else {
          tools.set(tool.registration.name, { ...tool, registration: toRegistration(tool.registration) });
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
