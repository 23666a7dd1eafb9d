import { readFile } from 'node:fs/promises';

/**
 * Bytes that a process and all its descendants hold together, pages that several share counted once. 0 for one that is gone.
 * For machines on which no control group bounds the sum.
 */
export const treeMemoryBytes = async (pid: number): Promise<number> => {
  let total = 0;
  const waiting = [pid];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    total += await proportionalBytes(next);
    waiting.push(...(await childrenOf(next)));
  }
  return total;
};

const childrenOf = async (pid: number): Promise<number[]> =>
  (await readOrEmpty(`/proc/${pid}/task/${pid}/children`)).split(' ').filter(Boolean).map(Number);

const proportionalBytes = async (pid: number): Promise<number> => {
  const found = /^Pss:\s+(\d+) kB/m.exec(await readOrEmpty(`/proc/${pid}/smaps_rollup`));
  return found ? Number(found[1]) * 1024 : 0;
};

// Processes come and go while they are counted.
const readOrEmpty = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
