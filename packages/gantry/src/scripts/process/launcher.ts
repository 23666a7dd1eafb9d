import type { ChildProcess } from 'node:child_process';
import type { RunnerName, ScriptLimits } from '../runner.ts';
import type { ScriptUser, WorkFolder } from './work-folder.ts';

/** A folder of the host that the process may use, at the same path. */
export interface Mount {
  readonly path: string;
  readonly writable?: boolean | undefined;
}

/** A process to start. */
export interface Launch {
  /** Absolute path of the program on the host. */
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: WorkFolder;
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly limits: ScriptLimits;
  /** Undefined where the process limits itself when it gets its work. */
  readonly cpuSeconds: number | undefined;
  /** Only what the program fills can be limited, not what it reserves. */
  readonly reservesAddressSpace?: boolean | undefined;
  readonly network?: boolean | undefined;
  /** Who the process runs as; the host's user when absent. */
  readonly user?: ScriptUser | undefined;
  /** Files into which the process writes its id before anything else. */
  readonly joinFiles?: readonly string[] | undefined;
  /** Opens descriptor 4 of the process, over which it can be told what to do. */
  readonly control?: boolean | undefined;
}

/** One way of keeping a process in. */
export interface Launcher {
  readonly name: RunnerName;
  readonly isolation: string;
  /** Runs each process as a user of its own where the host is root. */
  readonly switchesUser: boolean;
  /** Shows a process folders that lie where its user may not go. */
  readonly showsClosedFolders: boolean;
  /** Its kill ends whatever was started, also what has left its group or session. */
  readonly endsEverything: boolean;
  /** Needs a temporary folder on the host. */
  readonly needsTmpFolder: boolean;
  /** How its standard error begins when it could not start a process at all. */
  readonly complaint?: RegExp | undefined;
  /** Where the process sees its work folder. */
  workAt(folder: WorkFolder): string;
  start(launch: Launch): ChildProcess;
  /** Ends a started process and everything it started. */
  kill(child: ChildProcess): void;
}
