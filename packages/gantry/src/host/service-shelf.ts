import { GantryError } from '../kernel/errors.ts';
import type { ServiceKey } from '../plugin/plugin.ts';

/** Live objects that plugins offer each other, by key. */
export interface ServiceShelf {
  provide<T>(key: ServiceKey<T>, service: T): void;
  find<T>(key: ServiceKey<T>): T | undefined;
  /** @throws {GantryError} `plugin_unresolved` when nothing provides the key. */
  take<T>(key: ServiceKey<T>): T;
}

/** Makes an empty shelf. */
export const createServiceShelf = (): ServiceShelf => {
  const services = new Map<string, unknown>();
  const find = <T>(key: ServiceKey<T>): T | undefined => services.get(key.name) as T | undefined;
  return {
    find,
    provide: (key, service) => void services.set(key.name, service),
    take: (key) => {
      const service = find(key);
      if (service !== undefined) return service;
      throw new GantryError(
        'plugin_unresolved',
        `No plugin provides "${key.name}"; use the plugin that does, and name it in "needs".`,
        { details: { needs: key.name } },
      );
    },
  };
};
