import { join } from 'node:path';
import { messageOf } from '../../kernel/errors.ts';
import type { KernelEvents } from '../process/to-result.ts';
import type { ScriptLimits } from '../runner.ts';
import { defaultScriptLimits } from '../runner.ts';
import { removeGroup } from './group-files.ts';
import type { GroupTree } from './group-tree.ts';
import { systemGroupTree } from './group-tree.ts';
import { separateGroups } from './separate-groups.ts';
import { unifiedGroups } from './unified-groups.ts';

/** A control group of one run: bounds what all its processes use together. */
export interface RunGroup extends AsyncDisposable {
  /** Files into which a process writes its id to join. */
  readonly joinFiles: readonly string[];
  events(): Promise<KernelEvents>;
}

/** Makes control groups. */
export interface GroupMaker {
  /** @throws when the kernel refuses; then nothing is left of the group. */
  create(name: string, limits: Pick<ScriptLimits, 'memoryBytes' | 'maxProcesses'>): Promise<RunGroup>;
  /** For a person: which kind is used. */
  readonly description: string;
  /** The groups in which it makes others. */
  readonly parents: readonly string[];
}

/** Finds out whether control groups can be made here; gives the reason where they cannot. */
export const findGroupMaker = async (tree: GroupTree = systemGroupTree()): Promise<GroupMaker | string> => {
  const reasons: string[] = [];
  for (const make of [unifiedGroups, separateGroups]) {
    const maker = make(tree);
    if (typeof maker === 'string') {
      reasons.push(maker);
      continue;
    }
    try {
      await using probe = await maker.create(groupName('probe', tree), defaultScriptLimits);
      await probe.events();
      await Promise.all(maker.parents.map((parent) => sweep(tree, parent)));
      return maker;
    } catch (error) {
      reasons.push(`${maker.description}: ${messageOf(error)}`);
    }
  }
  return reasons.join('; ');
};

/** A name for the control group of a run: who made it, so that others know whether it is still in use, and for what. */
export const groupName = (id: string, tree: GroupTree = systemGroupTree()): string =>
  `gantry-${tree.pidNamespace}-${tree.pid}-${id}`;

/**
 * Removes the groups of makers that were killed before they could, and ends what is left in them. Only those whose process id means
 * here what it meant to them: in another container the same number may be a process that is alive.
 */
const sweep = async (tree: GroupTree, parent: string): Promise<void> => {
  const name = new RegExp(`^gantry-${tree.pidNamespace}-(\\d+)-`);
  for (const found of await tree.list(parent)) {
    const maker = Number(name.exec(found)?.[1]);
    if (!maker || tree.isAlive(maker)) continue;
    await removeGroup(tree, join(parent, found));
  }
};
