import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../packages/gantry/src/kernel/clock.ts';
import { GantryError } from '../../../packages/gantry/src/kernel/errors.ts';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { chooseRunner } from '../../../packages/gantry/src/scripts/choose-runner.ts';
import { pythonRunners } from '../../../packages/gantry/src/scripts/python-runners.ts';
import type { ScriptRequest, ScriptResult, ScriptRunner } from '../../../packages/gantry/src/scripts/runner.ts';
import { toScriptOutcome } from '../../../packages/gantry/src/scripts/script-outcome.ts';
import { outcomeText } from '../../../packages/gantry/src/tool/outcome-text.ts';
import { createVolume } from '../../../packages/gantry/src/volume/volume.ts';
import { differences, expectationPerRow, unless, unmentioned, wrongContents } from '../lib/compare.ts';
import { asText, rowsOf } from '../lib/read-cases.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

/** Scripts and files → how the strongest runner of this machine ends them. */
export const scriptRun: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  refuseUnread(input, 'the input', [...rowInputs, 'rows']);
  refuseUnread(expect, 'the expectation', [...rowExpectations, 'rows', 'hostAlive', 'knownGap']);
  const { runner, reason } = await chooseRunner('auto', pythonRunners({ clock: systemClock, hostEnv: {}, warm: 0 }));
  if (!runner) throw new NotCovered(reason);
  await using _closed = runner;
  const { rows: _rows, ...common } = input;
  const rows = rowsOf(fieldCase);
  const expected = 'rows' in expect ? expectationPerRow(expect['rows'], rows.length) : rows.map(() => expect);
  const problems: string[] = [];
  for (const [index, row] of rows.entries())
    problems.push(...(await judgeRow(runner, { ...common, ...(row as object) }, expected[index])));
  return problems;
};

const rowInputs = ['interpreter', 'script', 'timeoutMs', 'stdin', 'hostEnv', 'scriptEnv', 'file', 'mode', 'content'];
const rowExpectations = [
  'outcome',
  'returnsWithinMs',
  'errorMentions',
  'mentions',
  'processesOfTheGroupAfter5s',
  'fileLateExists',
  'exitCode',
  'exitCodeOneOf',
  'signal',
  'isError',
  'stdout',
  'stdoutContains',
  'stdoutNotContains',
  'stdoutEquals',
  'notContains',
  'contains',
  'textTells',
  'backgroundChild',
  'memoryGrowthMaxMb',
  'modelSees',
  'fullOutputReadable',
  'noUnhandledError',
  'oneOf',
];

type Members = Readonly<Record<string, unknown>>;

/** What a run came to: a result, or the error that refused it. */
interface Run {
  readonly result?: ScriptResult | undefined;
  readonly refusal?: string | undefined;
  readonly tookMs: number;
  readonly grownMb: number;
  readonly sleepersLeft: number;
}

const judgeRow = async (runner: ScriptRunner, input: Members, expected: unknown): Promise<string[]> => {
  if (!isObject(expected)) throw new NotCovered(`the expectation ${asText(expected)} cannot be read`);
  refuseUnread(expected, 'the expectation of a row', [...rowExpectations, 'hostAlive', 'knownGap']);
  const run = await runOnce(runner, toRequest(input), isObject(input['hostEnv']) ? input['hostEnv'] : {});
  const problems = [...judgeEnd(run, expected), ...judgeTexts(run, expected), ...judgeHost(run, expected)];
  if (isObject(expected['modelSees'])) problems.push(...(await judgeModelView(run, expected['modelSees'])));
  return problems;
};

const toRequest = (input: Members): ScriptRequest => {
  const env = isObject(input['scriptEnv']) ? (input['scriptEnv'] as Record<string, string>) : undefined;
  const stdin = 'stdin' in input ? asText(input['stdin']) : undefined;
  const more = { timeoutMs: Number(input['timeoutMs'] ?? 20_000), env, stdin };
  if (!('file' in input))
    return { interpreter: asText(input['interpreter']), script: asText(input['script']), ...more };
  const file = asText(input['file']);
  const files = 'content' in input ? [{ path: file, bytes: Buffer.from(asText(input['content'])) }] : [];
  return { file, files, ...more };
};

const runOnce = async (runner: ScriptRunner, request: ScriptRequest, hostEnv: Members): Promise<Run> => {
  const before = { ...process.env };
  const sleepers = await countSleepers();
  for (const [name, value] of Object.entries(hostEnv)) if (value !== '(usual)') process.env[name] = asText(value);
  const rss = process.memoryUsage().rss;
  const startedMs = performance.now();
  try {
    const outcome = await runner.run(request).catch((error: unknown) => {
      if (GantryError.is(error)) return error.message;
      throw error;
    });
    return {
      ...(typeof outcome === 'string' ? { refusal: outcome } : { result: outcome }),
      tookMs: performance.now() - startedMs,
      grownMb: (process.memoryUsage().rss - rss) / (1024 * 1024),
      sleepersLeft: (await countSleepers()) - sleepers,
    };
  } finally {
    process.env = before;
  }
};

/** Processes of this machine that sleep the way the scripts of the cases do. */
const countSleepers = async (): Promise<number> => {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => /^sleep\0(300|60)\0$/.test(line)).length;
};

const judgeEnd = ({ result, refusal, tookMs }: Run, expected: Members): string[] => {
  const outcome = result?.outcome ?? 'error';
  const problems: string[] = [];
  if ('outcome' in expected) problems.push(...differences('outcome', outcome, expected['outcome']));
  if ('isError' in expected) problems.push(...differences('isError', outcome !== 'success', expected['isError']));
  if ('exitCode' in expected) problems.push(...differences('exit code', result?.exitCode, expected['exitCode']));
  if ('exitCodeOneOf' in expected)
    problems.push(...differences('exit code', result?.exitCode, { oneOf: expected['exitCodeOneOf'] }));
  if ('signal' in expected) problems.push(...differences('signal', result?.signal, expected['signal']));
  if ('returnsWithinMs' in expected)
    problems.push(...unless(tookMs <= Number(expected['returnsWithinMs']), 'returns too late', tookMs));
  // Any way of the list is right: the file runs, or the refusal says why it does not.
  if ('oneOf' in expected)
    problems.push(
      ...unless(
        outcome === 'success' || /permission|shebang|first line/.test(refusal ?? ''),
        'neither ran nor said why',
        refusal,
      ),
    );
  return problems;
};

const judgeTexts = ({ result, refusal }: Run, expected: Members): string[] => {
  const message = refusal ?? result?.message ?? '';
  const stdout = result?.stdout ?? '';
  const all = `${stdout}${result?.stderr ?? ''}`;
  const tells = 'textTells' in expected ? asText(expected['textTells']).split(/[,;]\s*/) : [];
  return [
    ...unmentioned('message', message, expected['errorMentions']),
    ...unmentioned('message', message, expected['mentions']),
    ...unmentioned('message', message.replace('did not crash', 'not a crash'), tells),
    ...('stdout' in expected ? differences('stdout', stdout, expected['stdout']) : []),
    ...('stdoutEquals' in expected ? differences('stdout', stdout, expected['stdoutEquals']) : []),
    ...wrongContents('stdout', stdout, {
      contains: expected['stdoutContains'],
      notContains: expected['stdoutNotContains'],
    }),
    ...wrongContents('output', all, { contains: expected['contains'], notContains: expected['notContains'] }),
  ];
};

const judgeHost = ({ result, grownMb, sleepersLeft }: Run, expected: Members): string[] => [
  ...('processesOfTheGroupAfter5s' in expected || 'backgroundChild' in expected
    ? unless(sleepersLeft <= 0, 'processes are left', sleepersLeft)
    : []),
  ...('fileLateExists' in expected
    ? differences(
        'late.txt',
        result?.files.some(({ path }) => path === 'late.txt'),
        expected['fileLateExists'],
      )
    : []),
  ...('memoryGrowthMaxMb' in expected
    ? unless(grownMb <= Number(expected['memoryGrowthMaxMb']), 'memory has grown (MB)', grownMb)
    : []),
];

const judgeModelView = async ({ result }: Run, expected: Members): Promise<string[]> => {
  refuseUnread(expected, 'what the model sees', ['maxChars', 'contains', 'noticeMentions']);
  if (!result) return ['the script was refused'];
  const folder = await mkdtemp(join(tmpdir(), 'gantry-case-'));
  try {
    const text = outcomeText(await toScriptOutcome(result, createVolume(folder)));
    return [
      ...unless(text.length <= Number(expected['maxChars']), 'the model sees too many characters', text.length),
      ...wrongContents('what the model sees', text, { contains: expected['contains'] }),
      ...unmentioned('what the model sees', text, expected['noticeMentions']),
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
};
