import { messageOf } from '../../packages/gantry/src/kernel/errors.ts';
import { allKinds } from './kinds/all-kinds.ts';
import type { FieldCase } from './lib/read-cases.ts';
import { readCases } from './lib/read-cases.ts';
import type { Handler, Verdict } from './lib/verdict.ts';
import { NotCovered } from './lib/verdict.ts';

/** What a run came to. */
export interface CaseReport {
  readonly id: string;
  readonly kind: string;
  readonly verdict: Verdict;
}

/** A hung case must not hold up the others. */
const caseTimeoutMs = 60_000;

/** Runs every case of a folder, one after another, and hands each result on as soon as it is there. */
export const runCases = async (
  folder: string,
  options: {
    onReport?: ((report: CaseReport) => void) | undefined;
    kinds?: Readonly<Record<string, Handler>> | undefined;
  } = {},
): Promise<readonly CaseReport[]> => {
  const { onReport, kinds = allKinds } = options;
  const reports: CaseReport[] = [];
  for (const fieldCase of await readCases(folder)) {
    const { id, kind } = fieldCase;
    const report: CaseReport = { id, kind, verdict: await judge(fieldCase, kinds) };
    reports.push(report);
    onReport?.(report);
  }
  return reports;
};

/** One line about a case, and one more for each thing that went wrong. */
export const describeReport = ({ id, verdict }: CaseReport): string => {
  switch (verdict.outcome) {
    case 'passed':
      return `passed       ${id}`;
    case 'failed':
      return [`FAILED       ${id}`, ...verdict.problems.map((problem) => `               ${problem}`)].join('\n');
    case 'not covered':
      return `not covered  ${id}: ${verdict.reason}`;
  }
};

/** How many cases came out how. */
export const countReports = (reports: readonly CaseReport[]): Readonly<Record<Verdict['outcome'], number>> => {
  const counts = { passed: 0, failed: 0, 'not covered': 0 };
  for (const { verdict } of reports) counts[verdict.outcome] += 1;
  return counts;
};

const judge = async (fieldCase: FieldCase, kinds: Readonly<Record<string, Handler>>): Promise<Verdict> => {
  const handler = Object.hasOwn(kinds, fieldCase.kind) ? kinds[fieldCase.kind] : undefined;
  if (!handler) return { outcome: 'not covered', reason: `nothing runs cases of the kind ${fieldCase.kind} yet` };
  const problems = await problemsOf(handler, fieldCase);
  if (problems instanceof NotCovered) return { outcome: 'not covered', reason: problems.message };
  if (problems.length === 0) return { outcome: 'passed' };
  return fieldCase.isRecommended
    ? { outcome: 'not covered', reason: `recommended only: ${problems.join('; ')}` }
    : { outcome: 'failed', problems };
};

const problemsOf = async (handler: Handler, fieldCase: FieldCase): Promise<readonly string[] | NotCovered> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([`expected an end, came none within ${caseTimeoutMs} ms`]), caseTimeoutMs);
  });
  try {
    return await Promise.race([handler(fieldCase), late]);
  } catch (error) {
    return error instanceof NotCovered ? error : [`the case could not be run: ${messageOf(error)}`];
  } finally {
    clearTimeout(timer);
  }
};
