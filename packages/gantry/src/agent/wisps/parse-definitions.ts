import { createHash } from 'node:crypto';
import { GantryError } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import { isObject, parseJson } from '../../kernel/json.ts';
import { jsonProblem } from '../../kernel/json-problem.ts';
import { canonicalText } from '../../schema/canonical.ts';
import { flattenText } from '../../text/flatten.ts';
import type { Complain } from './read-step.ts';
import { readStep } from './read-step.ts';
import type { WispDefinition, WispStep } from './wisp-definition.ts';
import { referencesIn } from './wisp-templates.ts';

const mostDefinitions = 100;
const mostSteps = 50;
const mostDescriptionChars = 2_000;
const mostTools = 100;
const mostProblems = 12;
const mostChars = 1_000_000;
const mostCharsOfAll = 4_000_000;
const example =
  '{"definitions": [{"description": "Read a page and sum it up", "steps": [{"id": "page", "mode": "Direct", "gateway": "Web", "tool": "web_browse", "params": {"url": "https://example.com"}}, {"id": "sum", "mode": "Llm", "prompt": "Sum up: {{steps.page.result}}"}]}]}';

/**
 * Reads the pipelines of a call: a list of objects, or of JSON texts of objects; a single one counts as a list of one. Everything that could be
 * known to fail is refused before anything runs.
 * @throws {GantryError} `invalid_arguments` naming each fault with the pipeline and step it is in.
 */
export const parseDefinitions = (given: unknown): readonly WispDefinition[] => {
  if (given === undefined || given === null) throw refused(['"definitions" is missing']);
  const problems: string[] = [];
  const list = toList(given, (problem) => problems.push(problem));
  if (problems.length > 0) throw refused(problems);
  if (list.length === 0) throw refused(['"definitions" is empty; give at least one pipeline']);
  if (list.length > mostDefinitions)
    throw refused([`there are ${list.length} pipelines, and ${mostDefinitions} are the most`]);
  const definitions = list.map((one, index) => readDefinition(one, index, (problem) => problems.push(problem)));
  if (problems.length > 0) throw refused(problems);
  return definitions.filter((definition) => definition !== undefined);
};

const refused = (problems: readonly string[]): GantryError => {
  const shown = problems.slice(0, mostProblems).map((problem) => `- ${problem}`);
  const more = problems.length - shown.length;
  return new GantryError(
    'invalid_arguments',
    `No pipeline was run:\n${[...shown, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')}\nFor example: ${example}`,
    { details: { faults: problems } },
  );
};

const toList = (given: unknown, complain: Complain): readonly unknown[] => {
  const value = typeof given === 'string' ? parsed(given, '"definitions"', complain, mostCharsOfAll) : given;
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map((one, index) =>
    typeof one === 'string' ? parsed(one, `pipeline ${index + 1}`, complain) : one,
  );
};

/** What comes as a text has not been looked at by the call path. */
const parsed = (text: string, what: string, complain: Complain, most = mostChars): unknown => {
  if (text.length > most) {
    complain(tooLarge(what, text.length, most));
    return undefined;
  }
  const read = parseJson(text);
  const reason = read.ok ? jsonProblem(read.value) : read.reason;
  if (read.ok && reason === undefined) return read.value;
  complain(
    `${what} is not valid JSON (${flattenText(reason ?? '', { maxChars: 160 })}); send an object instead of a text`,
  );
  return undefined;
};

const tooLarge = (what: string, chars: number, most = mostChars): string =>
  `${what} has ${chars} characters, and ${most} are the most; keep large data in working memory or a file, and name it in "input_from"`;

const keys: ReadonlySet<string> = new Set(['description', 'steps', 'tools']);

const readDefinition = (given: unknown, index: number, complain: Complain): WispDefinition | undefined => {
  if (!isObject(given)) {
    complain(`pipeline ${index + 1} must be an object with "description" and "steps"`);
    return undefined;
  }
  const text = canonicalText(given);
  if (text.length > mostChars) {
    complain(tooLarge(`pipeline ${index + 1}`, text.length));
    return undefined;
  }
  const { description, steps: givenSteps, tools = [] } = given;
  const isNamed = typeof description === 'string' && description.trim() !== '';
  const name = isNamed
    ? `pipeline ${index + 1} ("${flattenText(description, { maxChars: 60 })}")`
    : `pipeline ${index + 1}`;
  if (!isNamed) complain(`${name} has no "description"`);
  else if (description.length > mostDescriptionChars)
    complain(`${name}: "description" has ${description.length} characters, and ${mostDescriptionChars} are the most`);
  for (const key of Object.keys(given))
    if (!keys.has(key))
      complain(`${name} has an unknown key "${flattenText(key)}"; it has description, steps and tools`);
  const names = typeof tools === 'string' ? [tools] : tools;
  if (!Array.isArray(names) || names.some((one) => typeof one !== 'string'))
    complain(`${name}: "tools" must be a list of names`);
  else if (names.length > mostTools)
    complain(
      `${name}: "tools" has ${names.length} names, and ${mostTools} are the most; the name of a server stands for all of its tools`,
    );
  if (!Array.isArray(givenSteps) || givenSteps.length === 0) {
    complain(`${name} has no steps; give at least one`);
    return undefined;
  }
  if (givenSteps.length > mostSteps) complain(`${name} has ${givenSteps.length} steps, and ${mostSteps} are the most`);
  const steps: WispStep[] = [];
  for (const [at, one] of (givenSteps as unknown[]).entries()) {
    const label =
      isObject(one) && typeof one['id'] === 'string' ? `step "${flattenText(one['id'])}"` : `step ${at + 1}`;
    const step = readStep(one, (problem) => complain(`${name}, ${label}: ${problem}`));
    if (step) steps.push(step);
  }
  if (steps.length === givenSteps.length) checkOrder(steps, (problem) => complain(`${name}, ${problem}`));
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return {
    description: String(description),
    steps,
    tools: Array.isArray(names) ? names.filter((one) => typeof one === 'string') : [],
    hash,
  };
};

/** What depends on the other steps: ids, where a failure leads, and what templates name. */
const checkOrder = (steps: readonly WispStep[], complain: Complain): void => {
  const ids = steps.map(({ id }) => id);
  for (const [at, step] of steps.entries()) {
    const wrong: Complain = (problem) => complain(`step "${step.id}": ${problem}`);
    const earlier = ids.slice(0, at);
    if (earlier.includes(step.id)) wrong('its "id" is taken by an earlier step; ids must differ');
    if (step.onFailure.action === 'skip_to') {
      const { skipTo } = step.onFailure;
      const later = ids.slice(at + 1);
      if (!ids.includes(skipTo))
        wrong(`"skip_to" names no step "${flattenText(skipTo)}"; later steps: ${named(later)}`);
      else if (!later.includes(skipTo)) wrong(`"skip_to" must lead forward; later steps: ${named(later)}`);
    }
    for (const { text, stepId, field } of referencesIn(textsOf(step))) {
      if (!earlier.includes(stepId))
        wrong(
          `${text} names ${ids.includes(stepId) ? 'a step that has not run by then' : 'no step'}; earlier steps: ${named(earlier)}`,
        );
      else if (field !== 'result' && field !== 'output_to')
        wrong(`${text}: a step gives "result" and "output_to", not "${flattenText(field)}"`);
      else if (field === 'output_to' && steps[ids.indexOf(stepId)]?.outputTo === undefined)
        wrong(`${text}: step "${stepId}" has no "output_to"`);
    }
  }
};

const named = (ids: readonly string[]): string => (ids.length === 0 ? 'none' : ids.map((id) => `"${id}"`).join(', '));

/** Everything of a step in which templates are filled in. */
const textsOf = (step: WispStep): Json =>
  step.mode === 'llm' ? [step.prompt, step.inputFrom ?? ''] : [step.params, step.inputFrom ?? ''];
