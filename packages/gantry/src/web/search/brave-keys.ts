import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';

/** A key and whose it is, which decides who is told when it is not accepted. */
export interface BraveKey {
  readonly value: string;
  readonly owner: 'workspace' | 'operator';
}

/** The keys of Brave: a workspace's own one first, then the operator's. */
export interface BraveKeys {
  /** Whether there is one, as far as is known now. An unknown workspace is looked up, so that the next turn knows. */
  isKnown(workspace?: string): boolean;
  /** The key to search with; undefined = none. */
  find(workspace: string | undefined): Promise<BraveKey | undefined>;
}

/** Name under which the secrets of the store hold the key that a workspace brought along. */
export const braveKeyName = (workspace: string): string => `web/brave/${workspace}`;

const believedMs = 60_000;
const mostWorkspaces = 1_000;

/** Makes the keys over the operator's and a way to read those of workspaces. Nothing but their being there is remembered. */
export const createBraveKeys = (options: {
  /** Read for every search. */
  readonly operatorKey: () => string | undefined;
  readonly workspaceKey: (workspace: string) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly log: Log;
}): BraveKeys => {
  const { operatorKey, workspaceKey, clock, log } = options;
  const known = new Map<string, { readonly hasKey: boolean; readonly untilMs: number }>();

  const ofWorkspace = async (workspace: string): Promise<string | undefined> => {
    let key: string | undefined;
    try {
      key = (await workspaceKey(workspace)) || undefined;
    } catch (error) {
      log.warn({ workspace, reason: messageOf(error) }, "a workspace's key of Brave cannot be read; it is left out");
    }
    known.delete(workspace);
    const [oldest] = known.size >= mostWorkspaces ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    known.set(workspace, { hasKey: key !== undefined, untilMs: clock.elapsedMs() + believedMs });
    return key;
  };

  return {
    isKnown: (workspace) => {
      if (operatorKey() !== undefined) return true;
      if (workspace === undefined) return false;
      const found = known.get(workspace);
      if (!found || found.untilMs <= clock.elapsedMs()) void ofWorkspace(workspace);
      return found?.hasKey === true;
    },
    find: async (workspace) => {
      const own = workspace === undefined ? undefined : await ofWorkspace(workspace);
      if (own !== undefined) return { value: own, owner: 'workspace' };
      const value = operatorKey();
      return value === undefined ? undefined : { value, owner: 'operator' };
    },
  };
};
