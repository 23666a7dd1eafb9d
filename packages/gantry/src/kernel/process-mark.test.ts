import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { isProcessGone, ownProcessMark } from './process-mark.ts';

it.runIf(process.platform === 'linux')('knows that a process here has ended, and no more than that', async () => {
  const own = ownProcessMark();
  if (!own) throw new TypeError('Linux tells which numbers are its own');
  expect(isProcessGone(own)).toBe(false);
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const mark = { ...own, pid: child.pid ?? 0 };
  expect(isProcessGone(mark)).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isProcessGone(mark)).toBe(true);
  // Of a process of another machine, or container, nothing is known.
  expect(isProcessGone({ ...mark, space: 'elsewhere' })).toBe(false);
});
