/** Fails when an import goes against the table of rooms (`levels.ts`), naming both rooms. */
import { findLevelBreaks } from './levels.ts';

const problems = findLevelBreaks(new URL('../packages/gantry/src', import.meta.url).pathname);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
