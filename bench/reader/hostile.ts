/** How long hostile pages take, and how much memory, each in a process of its own. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { show } from '../lib/stats.ts';
import { hostilePages } from './hostile-pages.ts';

const child = fileURLToPath(new URL('./hostile-child.ts', import.meta.url));

/** One line a page: wall time from the request to the text with the thread's start, and the peak of the whole process. */
export const benchHostilePages = async (): Promise<string[]> => {
  const lines = ['### Hostile pages', '', '| page | time | peak memory | |', '|---|---|---|---|'];
  for (const name of Object.keys(hostilePages)) {
    const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=gantry-source', child, name]);
    const { ms, peakMb, isStructured } = JSON.parse(stdout) as { ms: number; peakMb: number; isStructured: boolean };
    lines.push(`| ${name} | ${show(ms)} ms | ${show(peakMb)} MB | ${isStructured ? '' : 'bare text only'} |`);
  }
  return lines;
};
