import { describe, expect, it } from 'vitest';
import { defaultScriptLimits } from '../runner.ts';
import type { ProcessEnd } from './supervise.ts';
import type { RunFacts } from './to-result.ts';
import { cpuSecondsOf, toResult } from './to-result.ts';

const end = (facts: Partial<ProcessEnd>): ProcessEnd => ({
  exitCode: 0,
  stdout: '',
  stderr: '',
  stdoutBytes: 0,
  stderrBytes: 0,
  durationMs: 10,
  ...facts,
});
const facts = (more: Partial<RunFacts> = {}): RunFacts => ({
  timeoutMs: 30_000,
  limits: defaultScriptLimits,
  files: [],
  filesLeftOut: [],
  ...more,
});
const killed = { exitCode: null, signal: 'SIGKILL' };
const quiet = { oomKills: 0, refusedForks: 0 };

describe('toResult', () => {
  it.each([
    ['exit 0', end({}), facts(), 'success', undefined],
    ['errors on stderr alone', end({ stderr: 'MemoryError', stderrBytes: 11 }), facts(), 'success', undefined],
    ['exit 7', end({ exitCode: 7 }), facts(), 'failed', undefined],
    ['a signal', end(killed), facts({ events: quiet }), 'failed', undefined],
    ['the time limit', end({ ...killed, ended: 'time' }), facts(), 'timeout', 'time'],
    ['endless output', end({ ...killed, ended: 'output' }), facts(), 'limit', 'output'],
    ['a full disk', end({ ...killed, ended: 'disk' }), facts(), 'limit', 'disk'],
    ['processor time', end({ exitCode: null, signal: 'SIGXCPU' }), facts(), 'limit', 'cpu'],
    [
      'processor time, warning ignored',
      end({ ...killed, durationMs: 21_100 }),
      facts({ events: quiet }),
      'limit',
      'cpu',
    ],
    ['a large file', end({ exitCode: null, signal: 'SIGXFSZ' }), facts(), 'limit', 'file-size'],
    ['an OOM kill', end(killed), facts({ events: { oomKills: 1, refusedForks: 0 } }), 'limit', 'memory'],
    ['MemoryError', end({ exitCode: 1, stderr: 'MemoryError\n' }), facts(), 'failed', 'memory'],
    [
      'EAGAIN of fork',
      end({ exitCode: 1, stderr: 'Resource temporarily unavailable' }),
      facts(),
      'failed',
      'processes',
    ],
    ['refused forks', end({ exitCode: 1 }), facts({ events: { oomKills: 0, refusedForks: 3 } }), 'failed', 'processes'],
    ['ENOSPC', end({ exitCode: 1, stderr: 'No space left on device' }), facts(), 'failed', 'disk'],
  ] as const)('%s', (_name, processEnd, runFacts, outcome, limit) => {
    const result = toResult(processEnd, runFacts);
    expect([result.outcome, result.limit]).toEqual([outcome, limit]);
  });

  it.each([
    [end({ ...killed, ended: 'time' }), 'time limit of 30000 ms'],
    [end({ exitCode: 1, stderr: 'MemoryError' }), 'memory limit of 512 MB'],
    [end({ ...killed, ended: 'output' }), 'output limit of 256 MB'],
    [end({ exitCode: 1 }), 'exit code 1 and no output'],
    [end({ exitCode: 1, stderr: 'Network is unreachable', stderrBytes: 22 }), 'no network'],
    [end({ ...killed }), 'signal SIGKILL'],
  ])('says %# in words', (processEnd, words) => {
    expect(toResult(processEnd, facts()).message).toContain(words);
  });
});

it('gives two thirds of the time as processor time, at least a second, unless told otherwise', () => {
  expect(cpuSecondsOf(defaultScriptLimits, 30_000)).toBe(20);
  expect(cpuSecondsOf(defaultScriptLimits, 100)).toBe(1);
  expect(cpuSecondsOf({ ...defaultScriptLimits, cpuMs: 5000 }, 30_000)).toBe(5);
});
