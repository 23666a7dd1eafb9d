/** Prints the closing line of `npm test` from vitest's JSON report. A failed check or build counts as a failed test. */
import { readFileSync } from 'node:fs';

const [report = '', failedBefore = '0'] = process.argv.slice(2);
const {
  numPassedTests = 0,
  numFailedTests = 0,
  numPendingTests = 0,
} = JSON.parse(readFileSync(report, 'utf8')) as Record<string, number | undefined>;
console.log(`${numPassedTests} passed, ${numFailedTests || Number(failedBefore)} failed, ${numPendingTests} skipped`);
