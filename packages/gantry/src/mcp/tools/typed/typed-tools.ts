import type { CallContext } from '../../../tool/context.ts';
import type { ToolRegistration } from '../../../tool/registration.ts';
import type { FitTool, TypedTools } from '../../../tool/typed-tools.ts';
import type { KnowsServer } from '../knows-server.ts';
import { entryCallText } from '../management/invoke-call-text.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { byServerThenName } from './catalog.ts';
import type { Modes, SettledMode } from './modes.ts';
import { toMeantTool } from './similar-tools.ts';
import type { SimilarTools } from './similar-tools.ts';
import type { FamilyServers } from './stand-ins.ts';
import { createStandIns } from './stand-ins.ts';
import type { Activation, Surface, Surfaces } from './surfaces.ts';

/** Name of the tool that searches servers' tools; a list without it never gains tools by itself. */
export const findToolsName = 'mcp_find_tools';
/** Name of the tool that names servers and their tools. */
export const listServicesName = 'mcp_list_services';

/** The tools of servers as callers see them. */
export interface TypedToolSurface extends TypedTools {
  /** Makes a tool that was called by name the session's own, unless its list holds it already. */
  noteCall(typedName: string, context: CallContext): Promise<void>;
  /** How this caller is offered the tools of servers now. */
  modeOf(context: CallContext): SettledMode;
}

/** What decides about callers' lists. */
export interface TypedToolsOptions {
  readonly catalog: Catalog;
  readonly surfaces: Surfaces;
  readonly modes: Modes;
  readonly fit: FitTool;
  readonly knows: KnowsServer;
  readonly similar: SimilarTools;
  /** Whether a registered tool has that name. */
  readonly isTaken: (name: string) => boolean;
  /** Which servers take the place of bundled tools; default none. */
  readonly familyServers?: FamilyServers | undefined;
  /** Activations and pinned tools together; default 40. */
  readonly maxActivatedToolsPerSession?: number | undefined;
  /** Tools of servers are added to a model's list only while it holds fewer; default 120. */
  readonly maxToolsPerRequest?: number | undefined;
}

/** In mode `auto` everything is listed while no more typed tools than this can be seen. */
const mostForEager = 40;

/** Makes the function from caller and catalog to the tools of servers. */
export const createTypedTools = (options: TypedToolsOptions): TypedToolSurface => {
  const { catalog, surfaces, modes, fit, knows, similar, isTaken, familyServers } = options;
  const { maxActivatedToolsPerSession: budget = 40, maxToolsPerRequest = 120 } = options;
  const listeners = new Set<() => void>();
  const standIns = createStandIns(catalog, fit, familyServers);
  // Surfaces are replaced when they change, so what was chosen for one holds until the catalog changes.
  const chosen = new WeakMap<Surface, { readonly version: number; readonly lazy: Choice; readonly pinned: Choice }>();

  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  catalog.onChange(({ removedServers }) => {
    const gone = new Set(removedServers);
    surfaces.evict({
      activation: ({ name, server, print }) =>
        gone.has(server) || (catalog.ofServer(server).length > 0 && catalog.get(name)?.print !== print),
      server: (name) => gone.has(name),
    });
    changed();
  });
  surfaces.onChange(changed);
  familyServers?.onChange(changed);

  const modeOf = (context: CallContext): SettledMode => {
    const mode = modes.modeFor(context);
    if (mode !== 'auto') return mode;
    let seen = 0;
    for (const { tool } of catalog.tools())
      if (fit(tool.registration, context)) if (++seen > mostForEager) return 'pinned';
    return 'eager';
  };

  const choose = (surface: Surface, withPins: boolean): Choice => {
    const entries = surface.activations
      .map(({ name, print }) => [catalog.get(name), print] as const)
      .flatMap(([entry, print]) => (entry && entry.print === print ? [entry] : []))
      .slice(-budget);
    const taken = new Set(entries);
    const pinned: CatalogEntry[] = [];
    let left = budget - entries.length;
    // The most recently called server has the first claim on what is left; the list itself is in an order that calls do not change.
    if (withPins)
      for (const server of surface.pins.toReversed())
        for (const entry of catalog.ofServer(server)) {
          if (left <= 0) break;
          if (entry.kind !== 'tool' || taken.has(entry)) continue;
          pinned.push(entry);
          left -= 1;
        }
    const all = [...entries, ...pinned.sort(byServerThenName)];
    return { entries: all, stamp: all.map(({ typedName, print }) => `${typedName}@${print.slice(0, 12)}`).join() };
  };

  const choiceFor = (context: CallContext, mode: 'lazy' | 'pinned'): Choice => {
    const surface = surfaces.get(context);
    if (!surface) return noChoice;
    let known = chosen.get(surface);
    if (known?.version !== catalog.version) {
      known = { version: catalog.version, lazy: choose(surface, false), pinned: choose(surface, true) };
      chosen.set(surface, known);
    }
    return known[mode];
  };

  const ownStamp = (context: CallContext, mode: SettledMode): string => {
    if (mode === 'off') return '';
    return mode === 'eager' ? `${catalog.version}` : choiceFor(context, mode).stamp;
  };

  const entriesFor = (context: CallContext, mode: SettledMode): readonly CatalogEntry[] => {
    if (mode === 'off') return [];
    if (mode === 'eager') return catalog.tools();
    return [...new Set([...standIns.listed(context), ...choiceFor(context, mode).entries])];
  };

  const isCallable = (entry: CatalogEntry, context: CallContext): boolean => {
    if (context.caller !== 'model') return true;
    const mode = modes.modeFor(context);
    return mode !== 'off' && (mode !== 'eager' || entry.kind === 'tool');
  };

  return {
    get: (name, context) => {
      const entry = catalog.get(name);
      return entry && isCallable(entry, context) ? entry.tool : undefined;
    },
    names: function* (context) {
      for (const name of catalog.names()) {
        const entry = catalog.get(name);
        if (entry && isCallable(entry, context)) yield name;
      }
    },
    missing: (name, context) => {
      const before = catalog.formerly(name);
      if (before && knows(context, before.server))
        return {
          text: `It was a tool of server "${before.server}" and is no longer available: the server was removed or has changed; see mcp_list_services.`,
        };
      const meant = similar(toMeantTool(name), context);
      const near = meant.filter((entry) => isCallable(entry, context)).map(({ typedName }) => typedName);
      if (near.length > 0) return { near };
      const [best] = meant;
      return best && context.caller === 'model'
        ? { text: `Tools of servers are called with mcp_invoke_tool. Send ${entryCallText(best)} to it.` }
        : undefined;
    },
    howToFind: (context, isListed) => {
      if (!catalog.tools().some(({ tool }) => fit(tool.registration, context))) return undefined;
      const mode = modeOf(context);
      if (isListed(findToolsName)) return `Search the tools of servers with ${findToolsName}.`;
      if (!isListed(listServicesName)) return undefined;
      return mode === 'off'
        ? `${listServicesName} names the tools of servers, and mcp_invoke_tool calls them.`
        : `${listServicesName} names the tools of servers; call one as {server}__{tool}.`;
    },
    shape: (registered, context) => {
      const mode = modeOf(context);
      const isOperator = context.caller === 'operator';
      const searches = mode === 'lazy' || mode === 'pinned';
      const kept = searches || isOperator ? registered : registered.filter(({ name }) => name !== findToolsName);
      // What was closed on purpose stays closed.
      if (searches && !registered.some(({ name }) => name === findToolsName)) return kept;
      const tools: ToolRegistration[] = [...kept];
      const most = context.caller === 'model' ? maxToolsPerRequest : Infinity;
      for (const { tool, typedName } of entriesFor(context, mode)) {
        if (tools.length >= most) break;
        const fitted = isTaken(typedName) ? undefined : fit(tool.registration, context);
        if (fitted) tools.push(fitted);
      }
      return tools;
    },
    noteCall: async (typedName, context) => {
      const entry = catalog.get(typedName);
      if (!entry || !surfaces.keeps(context)) return;
      const mode = modes.modeFor(context);
      if (mode === 'off' || mode === 'eager') return;
      if (choiceFor(context, mode === 'lazy' ? mode : 'pinned').entries.includes(entry)) return;
      // Asked last, because it looks at what the caller can see.
      if (modeOf(context) === 'eager') return;
      await surfaces.activate(context, [toActivation(entry)]);
    },
    modeOf,
    takesOver: (family, context) => standIns.sentence(family, context, (entry) => isCallable(entry, context)),
    prepare: surfaces.prepare,
    stamp: (context) => {
      const mode = modeOf(context);
      const standing = standIns.listed(context).map(({ typedName, print }) => `${typedName}@${print.slice(0, 12)}`);
      return [mode, ownStamp(context, mode), ...standing].join('/');
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};

interface Choice {
  readonly entries: readonly CatalogEntry[];
  readonly stamp: string;
}

const noChoice: Choice = { entries: [], stamp: '' };

/** An entry as a session keeps it. */
export const toActivation = ({ typedName, server, print }: CatalogEntry): Activation => ({
  name: typedName,
  server,
  print,
});
