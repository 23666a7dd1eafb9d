import { nearest } from '../../../kernel/nearest.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { FitTool } from '../../../tool/typed-tools.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';

/** Which tools of servers a name may mean, of those that the caller may have; best first, at most three. */
export type SimilarTools = (meant: MeantTool, context: CallContext) => readonly CatalogEntry[];

/** A tool as somebody named it who may have made up either part. */
export interface MeantTool {
  readonly server?: string | undefined;
  readonly tool: string;
}

const most = 3;

/** Finds the tools whose own name it is, in any case and with any separators, else those with a near one; those of the named server first. */
export const createSimilarTools =
  (catalog: Pick<Catalog, 'tools'>, fit: FitTool): SimilarTools =>
  ({ server, tool }, context) => {
    const own = catalog.tools().filter((entry) => fit(entry.tool.registration, context) !== undefined);
    const byName = Map.groupBy(own, ({ name }) => name);
    const [best, ...others] = nearest(tool, byName.keys());
    if (best === undefined) return [];
    const named = isSame(best, tool) ? [best, ...others.filter((name) => isSame(name, tool))] : [best, ...others];
    const found = named.flatMap((name) => byName.get(name) ?? []);
    const isOfServer = (entry: CatalogEntry): boolean => entry.server.toLowerCase() === server?.toLowerCase();
    return [...found.filter(isOfServer), ...found.filter((entry) => !isOfServer(entry))].slice(0, most);
  };

/** The parts of a name such as `wiki__search`; one without a server is a tool's own name. */
export const toMeantTool = (name: string): MeantTool => {
  const at = name.indexOf('__');
  return at <= 0 ? { tool: name } : { server: name.slice(0, at), tool: name.slice(at + 2) };
};

/** Whether two names differ in case and separators only. */
export const isSame = (a: string, b: string): boolean => fold(a) === fold(b);

const fold = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
