import { spawn } from 'node:child_process';
import { killGroup } from '../process/end-child.ts';
import type { Launcher } from '../process/launcher.ts';

/** Starts scripts as ordinary processes of the host, with its environment: for development on one's own machine. */
export const localLauncher = (hostEnv: Readonly<Record<string, string | undefined>>): Launcher => ({
  name: 'local',
  isolation:
    'none: scripts run as the host does, with its files, network and environment; only time and output are limited',
  switchesUser: false,
  showsClosedFolders: true,
  endsEverything: false,
  needsTmpFolder: true,
  workAt: (folder) => folder.path,
  start: (launch) =>
    spawn(launch.program, launch.args, {
      cwd: launch.folder.path,
      env: { ...hostEnv, ...launch.env, PATH: hostEnv['PATH'] },
      // A group of its own, so that its end is the end of all that it started.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    }),
  kill: killGroup,
});
