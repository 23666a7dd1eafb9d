import { GantryError } from '../kernel/errors.ts';
import type { Plugin } from './plugin.ts';

/**
 * Orders plugins so that each comes after what it needs, keeping the given order otherwise.
 * @throws {GantryError} `plugin_unresolved` naming both sides of a missing or circular need, or a name used twice.
 */
export const orderPlugins = (plugins: readonly Plugin[]): readonly Plugin[] => {
  const byName = new Map<string, Plugin>();
  for (const plugin of plugins) {
    if (byName.has(plugin.name))
      throw unresolved(plugin.name, plugin.name, `Plugin "${plugin.name}" is used twice; use it once.`);
    byName.set(plugin.name, plugin);
  }
  const ordered = new Set<Plugin>();
  const visit = (plugin: Plugin, path: readonly string[]): void => {
    if (ordered.has(plugin)) return;
    for (const need of plugin.needs ?? []) {
      const needed = byName.get(need);
      if (!needed)
        throw unresolved(
          plugin.name,
          need,
          `Plugin "${plugin.name}" needs plugin "${need}", which is not used; add it or leave "${plugin.name}" out.`,
        );
      if (path.includes(need) || need === plugin.name)
        throw unresolved(
          plugin.name,
          need,
          `Plugins "${plugin.name}" and "${need}" need each other (${[...path, plugin.name, need].join(' → ')}); one of the needs has to go.`,
        );
      visit(needed, [...path, plugin.name]);
    }
    ordered.add(plugin);
  };
  for (const plugin of plugins) visit(plugin, []);
  return [...ordered];
};

const unresolved = (plugin: string, needs: string, message: string): GantryError =>
  new GantryError('plugin_unresolved', message, { details: { plugin, needs } });
