import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** True when any user may enter the folder: it and all above it are open. A folder that is not there yet counts as its parent. */
export const isOpenToAll = (path: string): boolean => {
  for (let at = path; ; at = dirname(at)) {
    const mode = statSync(at, { throwIfNoEntry: false })?.mode;
    if (mode !== undefined && (mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
};
