import type { AvailabilityCheck } from '../toolset/availability.ts';

/** What clients of `/mcp` get without a word in the configuration: servers' tools, the web, guides, and fetching stored results. */
const offered = new Set(['web', 'guides']);
const retrieval = 'get_from_working_memory';

/**
 * Which tools clients of `/mcp` are offered: the safe families, and the sources that `serve.expose` names (`*` = all). Every
 * other kind of caller is offered everything.
 */
export const exposureOf = (expose: readonly string[]): AvailabilityCheck => {
  const added = new Set(expose);
  const all = added.has('*');
  return ({ name, source }, { caller }) =>
    caller !== 'client' ||
    all ||
    offered.has(source) ||
    source.startsWith('mcp:') ||
    name === retrieval ||
    added.has(source) ||
    added.has(name);
};
