/**
 * How the command's bundle is cut: every file costs a start some tenths of a millisecond, and what a command never uses should not be
 * read. The modules that a gateway starts with are laid into layers by who else needs them, one file each; a module goes to the first layer that
 * has it. Everything else, which is imported when it is used, is left to the bundler. A file runs as a whole as soon as one of its modules is
 * imported, so what must not run before something else (`packages/gantry/src/cli/one-http-library.ts`) is in a layer of its own.
 */
import { join } from 'node:path';
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown';

/** The layers, from those that are needed by all. */
const names = ['builtins', 'base', 'common', 'log', 'service', 'gateway'] as const;

/** The bundler's groups; `dist` is where the compiled modules are. */
export const chunkGroups = (dist: string): CodeSplittingGroup[] => {
  let layers: Readonly<Record<string, ReadonlySet<string>>> | undefined;
  return names.map((layer, index) => ({
    name: (module, context) => {
      layers ??= layersOf(dist, context);
      return layers[layer]?.has(module) ? layer : null;
    },
    priority: names.length - index,
    debugName: layer,
  }));
};

const layersOf = (dist: string, context: ChunkingContext): Record<(typeof names)[number], Set<string>> => {
  const main = join(dist, 'cli/main.js');
  const log = join(dist, 'host/create-log.js');
  const commands = dynamicImportsOf([main], context).filter((id) => id.startsWith(join(dist, 'cli')));
  const late = dynamicImportsOf(commands, context).filter((id) => id !== log);
  const ofCommands = importsOf([...commands, ...late], context);
  const gateway = importsOf([join(dist, 'host/serve-gateway.js')], context);
  const ofServices = importsOf(
    ['host/serve-browser.js', 'host/serve-scripts-manager.js'].map((file) => join(dist, file)),
    context,
  );
  return {
    // Connections need these before anything of a service runs.
    builtins: new Set([...gateway].filter((id) => id.startsWith('\0node:'))),
    // The entry waits for the command it runs, so what commands import must not be in one file with it.
    base: new Set([...importsOf([main], context)].filter((id) => id !== main)),
    common: new Set([...gateway].filter((id) => ofCommands.has(id))),
    // Made before anything of a service is loaded.
    log: importsOf([log], context),
    service: new Set([...gateway].filter((id) => ofServices.has(id))),
    gateway,
  };
};

/** The modules, and everything they import in order to run. */
const importsOf = (roots: readonly string[], context: ChunkingContext): Set<string> => {
  const found = new Set<string>();
  const open = [...roots];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...(context.getModuleInfo(id)?.importedIds ?? []));
  }
  return found;
};

const dynamicImportsOf = (roots: readonly string[], context: ChunkingContext): string[] =>
  [...importsOf(roots, context)].flatMap((id) => context.getModuleInfo(id)?.dynamicallyImportedIds ?? []);
