import { describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { parseDefinitions } from './parse-definitions.ts';

const call = { id: 'a', mode: 'Direct', gateway: 'Mcp', tool: 'notes__add', params: { text: 'x' } };
const think = { id: 'b', mode: 'LLM', prompt: 'Sum up {{steps.a.result}}' };
const one = (...steps: unknown[]): object => ({ description: 'test', steps });
const problemOf = (given: unknown): string => {
  try {
    parseDefinitions(given);
  } catch (error) {
    if (GantryError.is(error) && error.code === 'invalid_arguments') return error.message;
    throw error;
  }
  return '(accepted)';
};

describe('definitions', () => {
  it.each([
    ['a list of objects', [one(call, think)]],
    ['a single object', one(call, think)],
    ['a JSON text in a list', [JSON.stringify(one(call, think))]],
    ['a JSON text of a list', JSON.stringify([one(call, think)])],
    ['a JSON text of an object', JSON.stringify(one(call, think))],
  ])('may be %s', (_, given) => {
    const [definition, ...others] = parseDefinitions(given);
    expect(others).toEqual([]);
    expect(definition).toMatchObject({
      description: 'test',
      tools: [],
      hash: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      steps: [
        { id: 'a', mode: 'direct', gateway: 'mcp', tool: 'notes__add', params: { text: 'x' }, timeoutMs: 300_000 },
        { id: 'b', mode: 'llm', prompt: 'Sum up {{steps.a.result}}', onFailure: { action: 'abort' } },
      ],
    });
  });

  it('have the same hash when they mean the same, and another when anything differs', () => {
    const hash = (given: unknown): string | undefined => parseDefinitions(given)[0]?.hash;
    expect(hash(one({ ...call }))).toBe(hash(JSON.stringify({ steps: [{ ...call }], description: 'test' })));
    expect(hash(one(call))).not.toBe(hash(one({ ...call, params: { text: 'y' } })));
  });

  it.each([
    ['nothing', undefined, '"definitions" is missing'],
    ['an empty list', [], '"definitions" is empty'],
    ['broken JSON', ['{"description": "x", '], 'pipeline 1 is not valid JSON'],
    ['broken JSON as a whole', '[{', '"definitions" is not valid JSON'],
    ['a number', [7], 'pipeline 1 must be an object'],
    ['no description', [{ steps: [call] }], 'pipeline 1 has no "description"'],
    ['no steps', [{ description: 'Fetch news', steps: [] }], 'pipeline 1 ("Fetch news") has no steps'],
    ['steps left out', [{ description: 'Fetch news' }], 'pipeline 1 ("Fetch news") has no steps'],
    ['an unknown key', [{ ...one(call), stepz: 1 }], 'unknown key "stepz"'],
    ['tools of another kind', [{ ...one(call), tools: [1] }], '"tools" must be a list of names'],
  ])('that are %s are refused', (_, given, problem) => {
    expect(problemOf(given)).toContain(problem);
    expect(problemOf(given)).toContain('For example: {"definitions"');
  });

  it.each([
    ['no id', { ...call, id: undefined }, 'step 1: "id" is missing'],
    ['an odd id', { ...call, id: 'a b' }, '"id" is "a b"; use'],
    ['no mode', { ...call, mode: undefined }, '"mode" is missing'],
    ['another mode', { ...call, mode: 'auto' }, '"mode" is "auto"; it must be "Direct" or "Llm"'],
    ['no gateway', { ...call, gateway: undefined }, '"gateway" is missing; a Direct step needs one of "Mcp", "A2A"'],
    ['another gateway', { ...call, gateway: 'Ftp' }, '"gateway" is "Ftp"'],
    ['no tool', { ...call, tool: undefined }, '"tool" is missing'],
    ['no params', { ...call, params: undefined }, '"params" is missing; give what the tool takes, or {}'],
    ['params that are no object', { ...call, params: [1] }, '"params" must be an object'],
    ['no prompt', { id: 'a', mode: 'Llm' }, '"prompt" is missing'],
    [
      'another tool for Web',
      { ...call, gateway: 'Web' },
      '"tool" must be "web_search" or "web_browse" with gateway "Web", not "notes__add"',
    ],
    ['no script', { id: 'a', mode: 'Direct', gateway: 'Script', params: {} }, '"params.script" is missing'],
    [
      'what another step gave as its code',
      { id: 'b', mode: 'Direct', gateway: 'Script', params: { script: 'print("{{steps.a.result}}")' } },
      '"params.script" takes no templates: what a step gave would become code. Name the step in "input_from"',
    ],
    [
      'another language',
      { id: 'a', mode: 'Direct', gateway: 'Script', language: 'ruby', params: { script: 'x' } },
      '"language" is "ruby"',
    ],
    ['half an A2A call', { id: 'a', mode: 'Direct', gateway: 'A2A', agent: 'x' }, '"skill" is missing'],
    ['no time', { ...call, timeout_minutes: 0 }, '"timeout_minutes" must be a number above 0'],
    ['a misspelt key', { ...call, promt: 'x' }, 'unknown key "promt"; did you mean "prompt"?'],
    ['a number as prompt', { id: 'a', mode: 'Llm', prompt: 5 }, '"prompt" must be a text'],
    ['another action', { ...call, on_failure: { action: 'retry' } }, '"on_failure" must be'],
    ['nowhere to skip to', { ...call, on_failure: { action: 'skip_to' } }, '"on_failure.skip_to" is missing'],
    ['a list as input_from', { ...call, input_from: ['a'] }, '"input_from" must be a text'],
  ])('with a step that has %s are refused', (_, step, problem) => {
    expect(problemOf(one(step))).toContain(problem);
  });

  it.each([
    ['the same id twice', [call, call], 'its "id" is taken by an earlier step'],
    [
      'a skip to an unknown step',
      [{ ...call, on_failure: { action: 'skip_to', skip_to: 'z' } }, think],
      'names no step "z"; later steps: "b"',
    ],
    [
      'a skip backward',
      [
        { ...call, id: 'z' },
        { ...call, on_failure: { action: 'skip_to', skip_to: 'z' } },
      ],
      'must lead forward; later steps: none',
    ],
    ['a skip to itself', [{ ...call, on_failure: { action: 'skip_to', skip_to: 'a' } }], 'must lead forward'],
    [
      'a template of an unknown step',
      [{ ...think, prompt: '{{steps.zz.result}}' }],
      '{{steps.zz.result}} names no step; earlier steps: none',
    ],
    [
      'a template of a later step',
      [{ ...call, params: { deep: ['{{steps.b.result}}'] } }, think],
      'a step that has not run by then',
    ],
    ['a template of itself', [{ ...call, params: { x: '{{steps.a.result}}' } }], 'a step that has not run by then'],
    [
      'a template of another field',
      [call, { ...think, prompt: '{{steps.a.output}}' }],
      'gives "result" and "output_to", not "output"',
    ],
    [
      'a template of a file that is not written',
      [call, { ...think, input_from: '{{steps.a.output_to}}' }],
      'has no "output_to"',
    ],
  ])('with %s are refused', (_, steps, problem) => {
    expect(problemOf(one(...steps))).toContain(problem);
  });

  it('are told all that is wrong with them, each with its place', () => {
    const problem = problemOf([one({ ...call, mode: 'x' }), { description: 'second', steps: [{ id: 'q' }] }]);
    expect(problem).toContain('pipeline 1 ("test"), step "a": "mode" is "x"');
    expect(problem).toContain('pipeline 2 ("second"), step "q": "mode" is missing');
  });
});

describe('a step', () => {
  const stepOf = (step: object): unknown => parseDefinitions(one(step))[0]?.steps[0];

  it.each([
    ['input', { ...call, params: undefined, input: { x: 1 } }, { x: 1 }],
    ['arguments', { ...call, params: undefined, arguments: { x: 2 } }, { x: 2 }],
    ['params before the others', { ...call, params: { x: 1 }, input: { x: 2 } }, { x: 1 }],
    ['a JSON text', { ...call, params: '{"x": 3}' }, { x: 3 }],
    ['an input_from that is an object', { ...call, params: undefined, input_from: '{"x": 4}' }, { x: 4 }],
    ['nothing at all', { ...call, params: {} }, {}],
  ])('takes its parameters from %s', (_, step, params) => {
    expect(stepOf(step)).toMatchObject({ params });
  });

  it('does not take a template for an object', () => {
    expect(problemOf(one(call, { ...call, id: 'c', params: undefined, input_from: '{{steps.a.result}}' }))).toContain(
      '"params" is missing',
    );
  });

  it('reads words in any case, and on_failure as a text', () => {
    expect(stepOf({ ...call, mode: 'DIRECT', gateway: 'mcp', on_failure: '{"action": "ABORT"}' })).toMatchObject({
      mode: 'direct',
      onFailure: { action: 'abort' },
    });
    expect(stepOf({ ...call, on_failure: 'abort', timeout_minutes: '2' })).toMatchObject({ timeoutMs: 120_000 });
  });
});
