/** The limits a script can run into. `time` is wall time, `disk` is what it may keep on disk or in its temporary folder. */
export type ScriptLimit = 'time' | 'cpu' | 'memory' | 'processes' | 'output' | 'file-size' | 'disk';

/** What one run may use. */
export interface ScriptLimits {
  /** Processor time of each process, milliseconds; default two thirds of the time limit. */
  readonly cpuMs?: number | undefined;
  /** Memory: of each process, and of all together. */
  readonly memoryBytes: number;
  /** Processes and threads at one time. */
  readonly maxProcesses: number;
  /** What is kept of each output stream, its beginning and its end; the rest is counted and dropped. */
  readonly keptOutputBytes: number;
  /** A script that writes more than this to its output streams is ended. */
  readonly maxOutputBytes: number;
  /** Of one file. */
  readonly maxFileBytes: number;
  /** Of the work folder, and of the temporary folder. */
  readonly maxDiskBytes: number;
  /** Most output files that are collected. */
  readonly maxFiles: number;
}

const mebibyte = 1024 * 1024;

/** The limits of a run that asks for none. */
export const defaultScriptLimits: ScriptLimits = {
  memoryBytes: 512 * mebibyte,
  maxProcesses: 64,
  keptOutputBytes: mebibyte,
  maxOutputBytes: 256 * mebibyte,
  maxFileBytes: 32 * mebibyte,
  maxDiskBytes: 64 * mebibyte,
  maxFiles: 50,
};

/** A file in the work folder, by its path below that folder. */
export interface ScriptFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** What every run can be given. */
export interface ScriptRunOptions {
  /** Wall time, milliseconds. */
  readonly timeoutMs: number;
  /** Reaches the script as the environment variable `GANTRY_INPUT`; empty when absent. */
  readonly inputData?: string | undefined;
  /** Standard input; an empty, closed stream when absent. */
  readonly stdin?: string | undefined;
  /** Variables of the script. Nothing of the host's environment is passed on. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Python packages to install before, as `name`, `name==1.2` or `name[extra]>=1,<2`. */
  readonly packages?: readonly string[] | undefined;
  /** Put into the work folder, which is the current folder of the script. */
  readonly files?: readonly ScriptFile[] | undefined;
  readonly limits?: Partial<ScriptLimits> | undefined;
  /** Which call wants it, for those who look at what runs where. */
  readonly callId?: string | undefined;
}

/** A script to run: source text for an interpreter, or one of `files` that says its interpreter in its first line. */
export type ScriptRequest = ScriptRunOptions &
  ({ readonly interpreter: string; readonly script: string } | { readonly file: string });

/**
 * How a script ended. `success` is exit code 0; `failed` any other exit, or a signal; `timeout` the time limit; `limit` one
 * of the other limits.
 */
export interface ScriptResult {
  readonly outcome: 'success' | 'failed' | 'timeout' | 'limit';
  /** Null when a signal ended the script. */
  readonly exitCode: number | null;
  /** Such as `SIGKILL`, where a signal ended the script. */
  readonly signal?: string | undefined;
  /** Within `keptOutputBytes`; where something was left out, a line in the middle says how many bytes. */
  readonly stdout: string;
  readonly stderr: string;
  /** All that the script wrote, kept or not. */
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** The limit that ended the script, or that it visibly ran into. */
  readonly limit?: ScriptLimit | undefined;
  /** For a reader: how it ended, and what to do about it. */
  readonly message: string;
  readonly durationMs: number;
  /** New and changed files of the work folder: regular files only, links are never followed. */
  readonly files: readonly ScriptFile[];
  /** Output files that were left behind, each with the reason. */
  readonly filesLeftOut: readonly string[];
}

/** Where scripts run, from strong to no isolation. */
export type RunnerName = 'sandbox' | 'landlock' | 'pyodide' | 'local' | 'quickjs' | 'kubernetes' | 'remote';

/** How a run can be given up. */
export interface RunSignal {
  readonly signal?: AbortSignal | undefined;
}

/** Runs scripts; each run is on its own and leaves nothing behind. Safe to use for several runs at a time. */
export interface ScriptRunner extends AsyncDisposable {
  readonly name: RunnerName;
  /** One sentence: what keeps a script in. */
  readonly isolation: string;
  /**
   * Runs one script to its end. When the promise settles, no process of the run is left.
   * @throws {GantryError} `invalid_arguments` when the request cannot be run (an interpreter or a package that is refused),
   * `execution_failed` when the runner itself does not work, `cancelled` when the signal aborts.
   */
  run(request: ScriptRequest, options?: RunSignal): Promise<ScriptResult>;
}
