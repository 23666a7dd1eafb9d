import { parseElicitationPolicy } from '../elicitation/policy.ts';
import { headerProblemOf } from '../config/header-problem.ts';
import { unreadPaths } from '../attachments/manifest.ts';
import { isProtection, misspeltFields } from '../config/misspelt-fields.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import { expandHeaders, isStdioEntry } from '../config/server-entry.ts';
import type { ArgGuards } from '../guards/create-arg-guards.ts';
import type { IsOwnListener } from '../../../net/address/own-listeners.ts';
import type { ServerState } from '../../wire/server-state.ts';

/** Why an entry is not connected at all. */
export interface Refusal {
  readonly state: Extract<ServerState, 'refused' | 'skipped' | 'disabled'>;
  readonly reason: string;
}

/** What an entry is judged by. */
export interface RefusalTerms {
  readonly stdio: 'off' | 'launch';
  readonly argGuards: Pick<ArgGuards, 'problemOf'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of the auth profiles that there are. */
  readonly authProfiles: ReadonlySet<string>;
  /** True when this process listens there; absent where it does not listen. */
  readonly isOwnListener?: IsOwnListener | undefined;
}

/**
 * Says whether an entry may be connected. `double` says that another entry is this server, and what to do. What names a protection that is not there is refused rather than connected without it.
 */
export const refusalOf = (
  entry: ServerEntry & { readonly double?: string | undefined },
  terms: RefusalTerms,
): Refusal | undefined => {
  const { stdio, argGuards, env, authProfiles } = terms;
  if (entry.disabled) return { state: 'disabled', reason: 'It is disabled in the file ("disabled": true).' };
  const misspelt = misspeltFields(entry).find(isProtection);
  if (misspelt)
    return refused(
      `Its entry has "${misspelt.written}", which protects nothing; write "${misspelt.meant}", or remove it.`,
    );
  const problem = argGuards.problemOf(entry);
  if (entry.double !== undefined) return refused(problem === undefined ? entry.double : `${entry.double} ${problem}`);
  if (problem !== undefined)
    return refused(`${problem} Correct it; remove "argGuards" only if the server may be called without them.`);
  if (entry.auth && !authProfiles.has(entry.auth.profile))
    return refused(
      `Its entry names the auth profile "${entry.auth.profile}" and nothing provides it; add it to "mcp": { "authProfiles": {…} } in the configuration, or use "headers".`,
    );
  if (isStdioEntry(entry)) {
    if (entry.command === undefined) return refused('Its entry is of type "stdio" and has no "command".');
    return stdio === 'launch'
      ? undefined
      : {
          state: 'skipped',
          reason: `It is a program ("${entry.command}"), and launching programs is off; switch it on with "mcp": { "stdio": "launch" } in the configuration.`,
        };
  }
  if (entry.url === undefined) return refused('Its entry has neither a "url" nor a "command".');
  if (isOwnAddress(entry.url, terms.isOwnListener))
    return refused('Its "url" is this gateway itself, whose tools would be in its own list without end; remove it.');
  // A variable of the environment may hold what the file could not.
  const badHeader = headerProblemOf(expandHeaders(entry, env));
  return badHeader === undefined ? undefined : refused(`${badHeader} Correct its "headers".`);
};

/** Whether a URL names this process by an address, or as localhost; other names may lead anywhere. */
const isOwnAddress = (text: string, isOwnListener: IsOwnListener = () => false): boolean => {
  const url = URL.parse(text);
  if (!url) return false;
  const { hostname, port, protocol } = url;
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname.replace(/^\[(.*)\]$/, '$1');
  return isOwnListener(host, Number(port) || (protocol === 'https:' ? 443 : 80));
};

/** Fields of an entry that have no effect, as warnings. */
export const warningsOf = (name: string, entry: ServerEntry): string[] => {
  const warnings: string[] = [];
  for (const { written, meant } of misspeltFields(entry))
    warnings.push(`Server "${name}": "${written}" has no effect; did you mean "${meant}"?`);
  if (entry.auth && Object.keys(entry.headers ?? {}).some((header) => header.toLowerCase() === 'authorization'))
    warnings.push(`Server "${name}": "headers" has an authorization, which "auth" replaces; it is not sent.`);
  if (entry.elicitation !== undefined)
    warnings.push(...parseElicitationPolicy(entry.elicitation, { scope: 'server', server: name }).warnings);
  for (const path of unreadPaths(entry.attachments ?? {}))
    warnings.push(
      `Server "${name}": "attachments.outbound.paramPaths" holds "${path}", which has no effect; write "name[*]" for a list of files.`,
    );
  if (entry.toolTimeoutMs !== undefined && !(entry.toolTimeoutMs > 0))
    warnings.push(`Server "${name}": "toolTimeoutMs" must be more than 0; ${entry.toolTimeoutMs} has no effect.`);
  return warnings;
};

const refused = (reason: string): Refusal => ({ state: 'refused', reason });
