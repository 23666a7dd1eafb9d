import type { Outcome, ToolReport } from 'gantry';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { RawServer } from '../../fixtures/raw-server.ts';
import { startRawServer, toolNamed } from '../../fixtures/raw-server.ts';
import { differences, expectationPerRow, shown, unless, unmentioned, wrongContents } from '../lib/compare.ts';
import type { CallFacts } from '../lib/judge-call.ts';
import { callAsModel } from '../lib/local-gantry.ts';
import { asText, listOf, rowsOf } from '../lib/read-cases.ts';
import type { ServedGantry } from '../lib/served-gantry.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

type Members = Readonly<Record<string, unknown>>;
type Answer = CallFacts & { readonly outcome: Outcome; readonly result: unknown };
type Judge = (expected: unknown, answers: readonly Answer[], world: World) => string[];

interface World {
  readonly server: RawServer;
  readonly served: ServedGantry;
}

const emptyNote = /returned nothing|no (?:result|output|content)|empty/i;

/** One result of a server → what the model, a program and the store of files get. */
export const toolResult: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  refuseUnread(input, 'the input', ['result', 'rows', 'outputSchema', 'tool']);
  const perRow = Object.keys(expect).filter((key) => /^row\d+Contains$/.test(key));
  refuseUnread(expect, 'the expectation', [...Object.keys(judges), ...perRow]);
  const rows = rowsOf(fieldCase);
  let at = 0;
  // A schema that no result fits: an error result must come through all the same.
  const outputSchema =
    expect['outputSchemaChecked'] === false
      ? { type: 'object', properties: { never: { type: 'string' } }, required: ['never'] }
      : input['outputSchema'];
  const given = isObject(input['tool']) ? input['tool'] : {};
  const tool = toolNamed('probe', { ...given, name: 'probe', ...(outputSchema !== undefined && { outputSchema }) });
  await using server = await startRawServer({
    'tools/list': () => ({ tools: [tool] }),
    'tools/call': () => (rows[at] as { result?: unknown }).result ?? null,
  });
  await using served = await startServed({ field: { url: server.url } });
  await served.servers.ready();
  const answers: Answer[] = [];
  for (const [index, row] of rows.entries()) {
    if (!isObject(row) || !('result' in row)) throw new NotCovered(`row ${index} has no result`);
    at = index;
    const facts = await callAsModel(served.gantry, { name: 'field__probe', arguments: {} }, []);
    answers.push({ ...facts, result: row['result'] });
  }
  return [
    ...Object.entries(judges).flatMap(([key, judge]) =>
      key in expect ? judge(expect[key], answers, { server, served }) : [],
    ),
    ...perRow.flatMap((key) => {
      const index = Number(/\d+/.exec(key)?.[0]);
      return wrongContents(`row ${index}`, answers[index]?.text ?? '', { contains: expect[key] });
    }),
  ];
};

const judges: Readonly<Record<string, Judge>> = {
  modelSees: (expected, answers) => {
    const wanted = expectationPerRow(expected, answers.length);
    return answers.flatMap((answer, index) => wrongView(`row ${index}`, wanted[index], answer));
  },
  structured: (expected, [answer]) =>
    differences('structured', reportOf(answer?.outcome)?.structured ?? null, expected),
  isError: (expected, answers) => {
    const wanted = expectationPerRow(expected, answers.length);
    return answers.flatMap(({ isError }, index) => differences(`row ${index}: isError`, isError, wanted[index]));
  },
  // A call that throws would have ended the turn and the case.
  turnContinues: () => [],
  outputSchemaChecked: (_expected, answers) =>
    answers.flatMap(({ text }) => unless(!/never/.test(text), 'expected that no output schema is applied', text)),
  modelSeesNonEmptyText: (_expected, answers) =>
    answers.flatMap(({ text }, index) => unless(text.trim() !== '', `row ${index}: expected some text`, text)),
  attachments: (expected, [answer]) => {
    const came = (reportOf(answer?.outcome)?.attachments ?? []).map(({ mime, size, name }) => ({
      mime,
      bytes: size,
      name,
    }));
    const wanted = listOf(expected);
    for (const one of wanted) if (isObject(one)) refuseUnread(one, 'an expected attachment', ['mime', 'bytes', 'name']);
    const read = came.map((file, index) => pick(file, Object.keys((wanted[index] as object | undefined) ?? file)));
    return differences('attachments', read, wanted);
  },
  orderKept: (_expected, answers) => answers.flatMap(wrongOrder),
  fetchedAutomatically: (expected, _answers, { server }) =>
    differences('fetchedAutomatically', server.count('resources/read') > 0, expected),
  serverStateAfter: (expected, _answers, { served }) => differences('state', served.status('field').state, expected),
};

const wrongView = (subject: string, wanted: unknown, answer: Answer): string[] => {
  if (!isObject(wanted)) throw new NotCovered(`what the model sees (${shown(wanted)}) cannot be read`);
  const read = ['contains', 'notContains', 'mentions', 'isError', 'occurrences', 'isErrorOrNote', 'maxChars'];
  refuseUnread(wanted, 'what the model sees', [...read, 'note']);
  const { text, isError } = answer;
  const problems = [
    ...wrongContents(subject, text, wanted),
    ...unmentioned(
      subject,
      text,
      [wanted['note'], wanted['mentions']].flat().filter((word) => word !== undefined),
    ),
  ];
  if ('isError' in wanted) problems.push(...differences(`${subject}: isError`, isError, wanted['isError']));
  if (wanted['isErrorOrNote'])
    problems.push(...unless(isError || emptyNote.test(text), `${subject}: expected an error or a note`, text));
  if (typeof wanted['maxChars'] === 'number')
    problems.push(
      ...unless(
        text.length <= wanted['maxChars'],
        `${subject}: expected at most ${wanted['maxChars']} characters`,
        text.length,
      ),
    );
  for (const [part, times] of Object.entries((wanted['occurrences'] as Members | undefined) ?? {}))
    problems.push(...differences(`${subject}: occurrences of ${part}`, text.split(part).length - 1, times));
  return problems;
};

/** Judges that blocks stand in the text in the order in which the server gave them. */
const wrongOrder = ({ result, text, outcome }: Answer): string[] => {
  const files = [...(reportOf(outcome)?.attachments ?? [])];
  const blocks = isObject(result) && Array.isArray(result['content']) ? (result['content'] as Members[]) : [];
  const marks = blocks.map((block) => asText(block['text'] ?? block['uri'] ?? files.shift()?.path ?? ''));
  let from = 0;
  for (const mark of marks) {
    const found = text.indexOf(mark, from);
    if (found < 0) return [`expected ${shown(mark)} in its place, came ${shown(text)}`];
    from = found + mark.length;
  }
  return [];
};

const reportOf = (outcome: Outcome | undefined): ToolReport | undefined => {
  if (outcome?.status === 'done') return outcome;
  return outcome?.status === 'failed' ? outcome.failure.reported : undefined;
};

const pick = (value: object, keys: readonly string[]): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)));
