/**
 * `npm run field-cases [-- DIR]`: runs the cases of a folder, by default `test/data/field-cases`, whose README says what the files hold.
 * Prints each case and then the counts; exits 1 when one failed, 2 when the folder cannot be read.
 */
import { resolve } from 'node:path';
import { messageOf } from '../../packages/gantry/src/kernel/errors.ts';
import { countReports, describeReport, runCases } from './run-cases.ts';

const [folder = resolve(import.meta.dirname, '../data/field-cases')] = process.argv.slice(2);
let code = 0;
try {
  const reports = await runCases(folder, { onReport: (report) => console.log(describeReport(report)) });
  const { passed, failed, 'not covered': notCovered } = countReports(reports);
  console.log(`${passed} passed, ${failed} failed, ${notCovered} not covered`);
  code = failed > 0 ? 1 : 0;
} catch (error) {
  console.error(`The field cases in ${folder} cannot be run: ${messageOf(error)}`);
  code = 2;
}
// What a hung case keeps open must not hold the process; standard output is flushed first.
process.stdout.write('', () => process.exit(code));
