/** `npm run ssrf-vectors [-- FILE]`: runs a file of address vectors (default: ours) and prints each wrong one. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Judgement, Vector } from './judge.ts';
import { judgeVector } from './judge.ts';

const file = process.argv[2] ?? new URL('../data/ssrf-vectors.json', import.meta.url);
const { vectors } = JSON.parse(readFileSync(typeof file === 'string' ? resolve(file) : file, 'utf8')) as {
  vectors: readonly Vector[];
};

const judgements: Judgement[] = [];
for (const vector of vectors) judgements.push(await judgeVector(vector));

for (const { id, result, wanted, got } of judgements) {
  if (result === 'wrong') console.log(`${id}: wanted ${wanted}, got ${got}`);
  else if (result === 'differs') console.log(`${id} (recommended only): wanted ${wanted}, got ${got}`);
  else if (result === 'not covered') console.log(`${id}: not covered, ${got}`);
}
const count = (result: Judgement['result']): number => judgements.filter((one) => one.result === result).length;
if (count('differs') > 0) console.log(`${count('differs')} recommendations not followed`);
console.log(`${count('passed')} passed, ${count('wrong')} failed, ${count('not covered')} not covered`);
if (count('wrong') > 0) process.exitCode = 1;
