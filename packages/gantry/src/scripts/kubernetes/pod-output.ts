import { constants } from 'node:os';
import type { ScriptLimit } from '../runner.ts';

/** What the program in a pod has written. */
export interface PodOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** How the script ended; absent when the program itself was cut off. */
  readonly end?:
    | {
        readonly exitCode: number | null;
        readonly signal?: string | undefined;
        readonly ended?: ScriptLimit | undefined;
        readonly durationMs: number;
      }
    | undefined;
  /** Lines that the program did not write: what the interpreter or the container had to complain about. */
  readonly strays: string;
}

interface Line {
  readonly s?: 'out' | 'err';
  readonly b?: string;
  readonly t?: string;
  readonly n?: number;
  readonly exit?: number | null;
  readonly signal?: number | null;
  readonly ended?: 'time' | 'output' | null;
  readonly ms?: number;
}

const mostStrayChars = 2000;

/** Puts the lines of a pod's log together again; a log that was cut off gives what there is. */
export const readPodOutput = (log: string): PodOutput => {
  const heads = { out: [] as Buffer[], err: [] as Buffer[] };
  const tails = { out: Buffer.alloc(0), err: Buffer.alloc(0) };
  const totals: { out?: number | undefined; err?: number | undefined } = {};
  const strays: string[] = [];
  let end: PodOutput['end'];
  for (const text of log.split('\n')) {
    if (text === '') continue;
    const line = parseLine(text);
    if (!line) strays.push(text);
    else if (line.s !== undefined && line.b !== undefined) heads[line.s].push(Buffer.from(line.b, 'base64'));
    else if (line.s !== undefined) {
      tails[line.s] = Buffer.from(line.t ?? '', 'base64');
      totals[line.s] = line.n;
    } else
      end = {
        exitCode: line.exit ?? null,
        signal: signalName(line.signal),
        ended: line.ended ?? undefined,
        durationMs: line.ms ?? 0,
      };
  }
  const [out, err] = [joined(heads.out, tails.out, totals.out), joined(heads.err, tails.err, totals.err)];
  return {
    stdout: out.text,
    stderr: err.text,
    stdoutBytes: out.bytes,
    stderrBytes: err.bytes,
    end,
    strays: strays.join('\n').slice(0, mostStrayChars),
  };
};

const parseLine = (text: string): Line | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    return 's' in value || 'exit' in value ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
};

const joined = (heads: readonly Buffer[], tail: Buffer, total: number | undefined): { text: string; bytes: number } => {
  const head = Buffer.concat(heads);
  const bytes = total ?? head.length;
  const missing = bytes - head.length - tail.length;
  if (missing <= 0) return { text: Buffer.concat([head, tail]).toString('utf8'), bytes };
  return {
    text: `${head.toString('utf8')}\n[… ${missing} of ${bytes} bytes left out here …]\n${tail.toString('utf8')}`,
    bytes,
  };
};

const signalName = (number: number | null | undefined): string | undefined =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
