import type { ScriptFile, ScriptLimit, ScriptLimits, ScriptResult } from '../runner.ts';
import type { ProcessEnd } from './supervise.ts';

/** What the kernel counted for a run, where something counts. */
export interface KernelEvents {
  /** Processes that were ended for want of memory. */
  readonly oomKills: number;
  /** Starts of a process or thread that were refused. */
  readonly refusedForks: number;
}

/** The facts of a run that a result is made of. */
export interface RunFacts {
  readonly timeoutMs: number;
  readonly limits: ScriptLimits;
  readonly events?: KernelEvents | undefined;
  readonly files: readonly ScriptFile[];
  readonly filesLeftOut: readonly string[];
}

/** Classifies how a process ended, and says it for a reader: which limit, and what to do about it. */
export const toResult = (end: ProcessEnd, facts: RunFacts): ScriptResult => {
  const limit = limitOf(end, facts);
  const succeeded = end.exitCode === 0 && end.ended === undefined;
  const decisive = end.ended ?? (end.signal === undefined ? undefined : limit);
  const outcome = succeeded ? 'success' : decisive === 'time' ? 'timeout' : decisive === undefined ? 'failed' : 'limit';
  return {
    outcome,
    exitCode: end.exitCode,
    signal: end.signal,
    stdout: end.stdout,
    stderr: end.stderr,
    stdoutBytes: end.stdoutBytes,
    stderrBytes: end.stderrBytes,
    limit: succeeded ? undefined : limit,
    message: succeeded ? 'The script succeeded.' : messageFor(end, limit, facts),
    durationMs: end.durationMs,
    files: facts.files,
    filesLeftOut: facts.filesLeftOut,
  };
};

/** The processor time of a run, in whole seconds as the kernel counts it. */
export const cpuSecondsOf = (limits: ScriptLimits, timeoutMs: number): number =>
  Math.max(1, Math.ceil((limits.cpuMs ?? (timeoutMs * 2) / 3) / 1000));

const limitOf = (end: ProcessEnd, { events, timeoutMs, limits }: RunFacts): ScriptLimit | undefined => {
  if (end.ended !== undefined) return end.ended;
  if (end.exitCode === 0) return undefined;
  if (end.signal === 'SIGXCPU') return 'cpu';
  if (end.signal === 'SIGXFSZ') return 'file-size';
  if (events && events.oomKills > 0) return 'memory';
  // The kernel kills what ignores the first warning one second later.
  if (end.signal === 'SIGKILL' && end.durationMs >= cpuSecondsOf(limits, timeoutMs) * 1000) return 'cpu';
  const told = complaints.find(([pattern]) => pattern.test(end.stderr.slice(-4000)));
  if (told) return told[1];
  return events && events.refusedForks > 0 ? 'processes' : undefined;
};

/** How programs complain about a limit. */
const complaints: readonly (readonly [RegExp, ScriptLimit])[] = [
  [/MemoryError|Cannot allocate memory|out of memory|std::bad_alloc/, 'memory'],
  [/Resource temporarily unavailable|can't start new thread/, 'processes'],
  [/File too large/, 'file-size'],
  [/No space left on device/, 'disk'],
];

const noNetwork =
  /Address family not supported|Network is unreachable|name resolution|EAFNOSUPPORT|ENOTFOUND|EAI_AGAIN/;

const messageFor = (end: ProcessEnd, limit: ScriptLimit | undefined, facts: RunFacts): string => {
  const how =
    end.signal === undefined ? `It ended with exit code ${end.exitCode}` : `It was ended by the signal ${end.signal}`;
  if (limit !== undefined) {
    const text = limitMessage(limit, facts);
    return end.ended === undefined && end.signal === undefined ? `${text} ${how}.` : text;
  }
  if (end.signal !== undefined) return `${how}.`;
  if (noNetwork.test(end.stderr)) return `${how}. Scripts have no network; give them the data as input.`;
  if (end.stdoutBytes + end.stderrBytes === 0)
    return `${how} and no output; a program can mean this as an answer, it did not crash.`;
  return `${how}.`;
};

const limitMessage = (limit: ScriptLimit, { limits, timeoutMs }: RunFacts): string => {
  switch (limit) {
    case 'time':
      return `The script ran into its time limit of ${timeoutMs} ms and was ended with everything it had started; give it more time, or less to do.`;
    case 'cpu':
      return `The script used up its processor time of ${cpuSecondsOf(limits, timeoutMs)} s; give it more time, or less to do.`;
    case 'memory':
      return `The script ran into its memory limit of ${size(limits.memoryBytes)}; work on the data in smaller pieces.`;
    case 'processes':
      return `The script ran into its limit of ${limits.maxProcesses} processes; start fewer.`;
    case 'output':
      return `The script ran into its output limit of ${size(limits.maxOutputBytes)} and was ended; print less, or write a file.`;
    case 'file-size':
      return `The script ran into its limit of ${size(limits.maxFileBytes)} for one file.`;
    case 'disk':
      return `The script ran into its disk limit of ${size(limits.maxDiskBytes)}; keep fewer or smaller files.`;
  }
};

const size = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${Math.round(bytes / (1024 * 1024))} MB` : `${Math.round(bytes / 1024)} KB`;
