import type { CallContext } from '../../../tool/context.ts';
import type { ToolFamily } from '../../../tool/tool-family.ts';
import { toolFamilies } from '../../../tool/tool-family.ts';
import type { FitTool } from '../../../tool/typed-tools.ts';
import { entryCallText } from '../management/invoke-call-text.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { byServerThenName } from './catalog.ts';

/** Which servers are there to take the place of a bundled tool. The bridge knows; `host/` passes it. */
export interface FamilyServers {
  /** The names of those that are of this family by their entry and can be called now. */
  of(family: ToolFamily): readonly string[];
  /** Calls the listener when one comes or goes. Returns the way to stop it. */
  onChange(listener: () => void): () => void;
}

/** The tools of servers that stand in for a bundled one. */
export interface StandIns {
  /** What does the work of that family for this caller, as a sentence; undefined while no server does. */
  sentence(family: ToolFamily, context: CallContext, isCallable: (entry: CatalogEntry) => boolean): string | undefined;
  /** Those that a caller is shown whatever he has found or called: what they stand in for would be on his list too. */
  listed(context: CallContext): readonly CatalogEntry[];
}

const mostListed = 8;
const mostNamed = 4;

/** Makes them over a catalog. */
export const createStandIns = (
  catalog: Pick<Catalog, 'ofServer'>,
  fit: FitTool,
  servers: FamilyServers | undefined,
): StandIns => {
  const of = (family: ToolFamily, context: CallContext): readonly CatalogEntry[] =>
    (servers?.of(family) ?? [])
      .flatMap((server) => catalog.ofServer(server))
      .filter(({ kind, tool }) => kind === 'tool' && fit(tool.registration, context) !== undefined)
      .sort(byServerThenName);

  return {
    sentence: (family, context, isCallable) => {
      const entries = of(family, context);
      const [first] = entries;
      if (!first) return undefined;
      const names = entries.filter(isCallable).map(({ typedName }) => typedName);
      if (names.length === 0)
        return `Server "${first.server}" does this now. Send ${entryCallText(first)} to mcp_invoke_tool.`;
      const more = names.length > mostNamed ? ' or another of its tools' : '';
      return `Server "${first.server}" does this now: call ${names.slice(0, mostNamed).join(' or ')}${more}.`;
    },
    listed: (context) => toolFamilies.flatMap((family) => of(family, context).slice(0, mostListed)),
  };
};
