import type { Json, JsonObject } from '../../kernel/json.ts';
import { isObject } from '../../kernel/json.ts';
import { nearest } from '../../kernel/nearest.ts';
import { flattenText } from '../../text/flatten.ts';
import { parseArguments } from '../../text/parse-arguments.ts';
import type { DirectStep, OnFailure, WispStep } from './wisp-definition.ts';
import { referencesIn } from './wisp-templates.ts';

/** Collects what is wrong with a definition. */
export type Complain = (problem: string) => void;

const minuteMs = 60_000;
const defaultMinutes = 5;
const mostMinutes = 60;
const idPattern = /^[\w.-]{1,64}$/;
const gateways = { mcp: 'Mcp', a2a: 'A2A', script: 'Script', web: 'Web' } as const;
const languages: ReadonlySet<string> = new Set(['python', 'javascript']);
const webTools: ReadonlySet<string> = new Set(['web_search', 'web_browse']);
const known = [
  'id',
  'mode',
  'gateway',
  'server',
  'tool',
  'language',
  'params',
  'input',
  'arguments',
  'prompt',
  'agent',
  'skill',
  'message',
  'timeout_minutes',
  'input_from',
  'output_to',
  'on_failure',
];

/** Reads one step; undefined when it cannot be used. Everything that is wrong is said, not just the first of it. */
export const readStep = (given: unknown, complain: Complain): WispStep | undefined => {
  if (!isObject(given)) {
    complain('must be an object with "id" and "mode"');
    return undefined;
  }
  let isUsable = true;
  const wrong: Complain = (problem) => {
    isUsable = false;
    complain(problem);
  };
  const text = (key: string): string | undefined => {
    const value = given[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'string') return value.trim() === '' ? undefined : value;
    wrong(`"${key}" must be a text`);
    return undefined;
  };
  for (const key of Object.keys(given))
    if (!known.includes(key)) {
      const near = nearest(key, known, 1)[0];
      wrong(`has an unknown key "${flattenText(key)}"${near === undefined ? '' : `; did you mean "${near}"?`}`);
    }

  const id = text('id') ?? '';
  if (id === '') wrong('"id" is missing; give each step a name of its own, such as "fetch"');
  else if (!idPattern.test(id)) wrong(`"id" is "${flattenText(id)}"; use up to 64 letters, digits, "_", "-" and "."`);
  const base = {
    id,
    timeoutMs: timeoutOf(given['timeout_minutes'], wrong),
    outputTo: text('output_to'),
    onFailure: onFailureOf(given['on_failure'], wrong),
  };
  if (base.outputTo?.includes('{{')) wrong('"output_to" takes no templates; name the file itself');
  const mode = text('mode')?.trim().toLowerCase();
  if (mode === 'llm') {
    const prompt = text('prompt') ?? '';
    if (prompt === '') wrong('"prompt" is missing; an Llm step needs one');
    return isUsable ? { ...base, mode, prompt, inputFrom: inputFromOf(given['input_from'], wrong) } : undefined;
  }
  if (mode !== 'direct') {
    wrong(
      mode === undefined
        ? '"mode" is missing; it is "Direct" (one call) or "Llm" (a small model works)'
        : `"mode" is "${flattenText(mode)}"; it must be "Direct" or "Llm"`,
    );
    return undefined;
  }

  const written = text('gateway');
  const gateway = (['mcp', 'a2a', 'script', 'web'] as const).find((one) => one === written?.trim().toLowerCase());
  if (gateway === undefined) {
    const allowed = Object.values(gateways).map((name) => `"${name}"`);
    wrong(
      `"gateway" is ${written === undefined ? 'missing' : `"${flattenText(written)}"`}; a Direct step needs one of ${allowed.join(', ')}`,
    );
    return undefined;
  }
  const params = paramsOf(given, wrong);
  const step: DirectStep = {
    ...base,
    mode,
    gateway,
    server: text('server'),
    tool: text('tool'),
    language: (text('language') ?? 'python').trim().toLowerCase(),
    params: params?.value ?? {},
    // Once it has stood in for the parameters it is no data beside them.
    inputFrom: params?.isFromInput === true ? undefined : inputFromOf(given['input_from'], wrong),
    agent: text('agent'),
  };
  switch (gateway) {
    case 'mcp':
      if (step.tool === undefined)
        wrong('"tool" is missing; give the typed name, or "server" and the server\'s own name');
      if (params === undefined) wrong('"params" is missing; give what the tool takes, or {} when it takes nothing');
      break;
    case 'web':
      if (!webTools.has(step.tool ?? ''))
        wrong(
          `"tool" must be "web_search" or "web_browse" with gateway "Web"${step.tool === undefined ? '' : `, not "${flattenText(step.tool)}"`}`,
        );
      if (params === undefined) wrong('"params" is missing; web_search takes {"query": …}, web_browse {"url": …}');
      break;
    case 'script':
      if (!languages.has(step.language))
        wrong(`"language" is "${flattenText(step.language)}"; it must be "python" or "javascript"`);
      if (typeof step.params['script'] !== 'string' || step.params['script'].trim() === '')
        wrong('"params.script" is missing; it holds the source code');
      // What a step gave was written by others; as part of the source it would be run.
      if (referencesIn(step.params['script']).length > 0)
        wrong(
          '"params.script" takes no templates: what a step gave would become code. Name the step in "input_from"; the script reads it as the environment variable GANTRY_INPUT',
        );
      break;
    case 'a2a':
      for (const key of ['agent', 'skill', 'message'])
        if (text(key) === undefined) wrong(`"${key}" is missing; gateway "A2A" needs agent, skill and message`);
  }
  return isUsable ? step : undefined;
};

interface Params {
  readonly value: JsonObject;
  readonly isFromInput: boolean;
}

/** The parameters under the first of their names that is there; an `input_from` that is an object is the last resort. */
const paramsOf = (given: Readonly<Record<string, unknown>>, wrong: Complain): Params | undefined => {
  for (const key of ['params', 'input', 'arguments']) {
    const value = given[key];
    if (value === undefined || value === null) continue;
    const parsed = parseArguments(value);
    if (parsed.ok) return { value: parsed.value, isFromInput: false };
    wrong(`"${key}" must be an object: ${parsed.reason}`);
    return { value: {}, isFromInput: false };
  }
  const from = given['input_from'];
  const looksLikeObject =
    isObject(from) || (typeof from === 'string' && from.trim().startsWith('{') && !/^\s*\{\{/.test(from));
  if (!looksLikeObject) return undefined;
  const parsed = parseArguments(from);
  return parsed.ok ? { value: parsed.value, isFromInput: true } : undefined;
};

const inputFromOf = (value: unknown, wrong: Complain): string | undefined => {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim();
  wrong(
    '"input_from" must be a text: the id of an earlier step, a key of working memory, or a path of the shared folder',
  );
  return undefined;
};

const timeoutOf = (value: unknown, wrong: Complain): number => {
  if (value === undefined || value === null) return defaultMinutes * minuteMs;
  const minutes = typeof value === 'string' ? Number(value) : value;
  if (typeof minutes === 'number' && minutes > 0 && minutes <= mostMinutes) return minutes * minuteMs;
  wrong(`"timeout_minutes" must be a number above 0, at most ${mostMinutes}`);
  return defaultMinutes * minuteMs;
};

const onFailureOf = (value: unknown, wrong: Complain): OnFailure => {
  if (value === undefined || value === null) return { action: 'abort' };
  const read: Readonly<Record<string, Json | undefined>> | undefined =
    typeof value === 'string' && !value.trim().startsWith('{') ? { action: value } : objectIn(value);
  const action = typeof read?.['action'] === 'string' ? read['action'].trim().toLowerCase() : undefined;
  if (action === 'abort') return { action };
  if (action === 'skip_to') {
    const skipTo = read?.['skip_to'];
    if (typeof skipTo === 'string' && skipTo.trim() !== '') return { action, skipTo: skipTo.trim() };
    wrong('"on_failure.skip_to" is missing; name the later step to go on with');
    return { action: 'abort' };
  }
  wrong('"on_failure" must be {"action": "abort"} or {"action": "skip_to", "skip_to": "<id of a later step>"}');
  return { action: 'abort' };
};

const objectIn = (value: unknown): JsonObject | undefined => {
  const parsed = parseArguments(value);
  return parsed.ok ? parsed.value : undefined;
};
