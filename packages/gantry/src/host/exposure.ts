import { managementSource } from '../mcp/tools/management/management-tool.ts';
import type { AvailabilityCheck } from '../toolset/availability.ts';

/** What clients of `/mcp` get without a word in the configuration: servers' tools, the web, guides, and fetching stored results. */
const offered = new Set(['web', 'guides']);
const retrieval = 'get_from_working_memory';
/** What changes the servers of everybody is for those whom the operator has named it for. */
const onlyByName: ReadonlySet<string> = new Set(['mcp_register_server', 'mcp_unregister_server']);

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
    (source.startsWith('mcp:') && !(source === managementSource && onlyByName.has(name))) ||
    name === retrieval ||
    added.has(source) ||
    added.has(name);
};
