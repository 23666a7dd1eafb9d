import type { ChildProcess } from 'node:child_process';
import { newId } from '../../kernel/ids.ts';
import type { ScriptLimits } from '../runner.ts';
import type { GroupMaker, RunGroup } from '../sandbox/cgroup.ts';
import { groupName } from '../sandbox/cgroup.ts';
import type { ScriptUsers } from '../sandbox/script-users.ts';
import { endChild } from './end-child.ts';
import type { Launcher } from './launcher.ts';
import type { ScriptUser, WorkFolder } from './work-folder.ts';
import { createWorkFolder } from './work-folder.ts';

/** The place of one run: who it runs as, its folder, its control group, and its process where that is started already. */
export interface RunPlace extends AsyncDisposable {
  readonly folder: WorkFolder;
  readonly user: ScriptUser | undefined;
  readonly group: RunGroup | undefined;
  child?: ChildProcess | undefined;
}

/** Opens a place for a run. Disposing it ends its process, removes folder and group, and gives the user back. */
export const openRunPlace = async (
  limits: ScriptLimits,
  { launcher, users, groups }: { launcher: Launcher; users: ScriptUsers; groups: GroupMaker | undefined },
): Promise<RunPlace> => {
  await using opened = new AsyncDisposableStack();
  const taken = launcher.switchesUser ? await users.take() : undefined;
  opened.defer(() => taken?.giveBack());
  const user = taken?.user;
  const folder = opened.use(await createWorkFolder({ user, withTmp: launcher.needsTmpFolder }));
  const group = groups && opened.use(await groups.create(groupName(newId().slice(0, 12)), limits));
  const kept = opened.move();
  const place: RunPlace = {
    folder,
    user,
    group,
    [Symbol.asyncDispose]: async () => {
      if (place.child) await endChild(place.child, launcher.kill);
      await kept.disposeAsync();
    },
  };
  return place;
};
