import type { CallContext } from '../tool/context.ts';
import type { Tool } from '../tool/executor.ts';
import type { TypedTools } from '../tool/typed-tools.ts';

/**
 * Tools of servers in memory: all are listed in modes `auto` and `eager`, none in `off`, and in `lazy` and `pinned` those that the caller's connection or
 * identity called.
 */
export const fakeTypedTools = (...tools: readonly Tool[]): TypedTools => {
  const called = new Map<string, Set<string>>();
  const listeners = new Set<() => void>();
  const calledBy = ({ connection, client }: CallContext): Set<string> => {
    const key = connection ?? client;
    const names = key === undefined ? undefined : called.get(key);
    return names ?? new Set();
  };
  const listed = (context: CallContext): readonly Tool[] => {
    const { wrapperMode = 'auto' } = context;
    if (wrapperMode === 'off') return [];
    if (wrapperMode === 'auto' || wrapperMode === 'eager') return tools;
    const names = calledBy(context);
    return tools.filter(({ registration }) => names.has(registration.name));
  };
  const callable = tools.map(({ registration, executor }): Tool => ({
    registration,
    executor: {
      ...executor,
      execute: (call, context) => {
        const key = context.connection ?? context.client;
        if (key !== undefined) called.set(key, calledBy(context).add(registration.name));
        for (const listener of listeners) listener();
        return executor.execute(call, context);
      },
    },
  }));
  return {
    get: (name) => callable.find(({ registration }) => registration.name === name),
    names: () => tools.map(({ registration }) => registration.name),
    missing: () => undefined,
    howToFind: () => undefined,
    shape: (registered, context) => [...registered, ...listed(context).map(({ registration }) => registration)],
    takesOver: () => undefined,
    prepare: async () => {},
    stamp: (context) =>
      listed(context)
        .map(({ registration }) => registration.name)
        .join(),
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
