import { describe, expect, it } from 'vitest';
import { findTextCalls } from './text-calls.ts';
import { hasLeakedSyntax, withoutVendorTokens } from './vendor-tokens.ts';

const toolNames = ['web_search', 'get_time'];
const find = (text: string, given = '') => findTextCalls(text, { toolNames, given: () => given });

describe('calls that are written as text', () => {
  it.each([
    ['on one line', 'tool_call_name: web_search tool_call_arguments: {"q": "a"}', '{"q": "a"}'],
    ['on two lines', 'tool_call_name: web_search\ntool_call_arguments: {"q": "a"}', '{"q": "a"}'],
    ['with lines between', 'tool_call_name: web_search\n\n\ntool_call_arguments: {"q": "a"}', '{"q": "a"}'],
    ['with a backtick before', '`tool_call_name: web_search`\n`tool_call_arguments: {"q": "a"}`', '{"q": "a"}'],
    [
      'over many lines',
      'tool_call_name: web_search\ntool_call_arguments: {\n"q": "{a",\n"n": {"m": 1}\n}',
      '{\n"q": "{a",\n"n": {"m": 1}\n}',
    ],
    ['in other letters', 'TOOL_CALL_NAME: Web_Search\ntool_call_arguments: {"q": "a"}', '{"q": "a"}'],
    ['as a block', '<tool_call>\n{"name": "web_search", "arguments": {"q": "a"}}\n</tool_call>', '{"q":"a"}'],
    ['as a bare name', 'web_search\n{"q": "a"}', '{"q": "a"}'],
  ])('%s', (_how, text, input) => {
    expect(find(text).calls).toEqual([{ name: 'web_search', input }]);
  });

  it('may be several, and what stands before the first is kept', () => {
    const text = 'I look it up.\ntool_call_name: web_search\ntool_call_arguments: {"q": "a"}\ntool_call_name: get_time';
    expect(find(text)).toEqual({
      before: 'I look it up.',
      calls: [
        { name: 'web_search', input: '{"q": "a"}' },
        { name: 'get_time', input: '' },
      ],
    });
  });

  it('keep arguments that are broken, for the call path to refuse', () => {
    const text =
      'tool_call_name: web_search\ntool_call_arguments: {"q": \ntool_call_name: get_time\ntool_call_arguments: {}';
    expect(find(text).calls).toEqual([
      { name: 'web_search', input: '{"q":' },
      { name: 'get_time', input: '{}' },
    ]);
  });

  it('may nest deeper than anything can be written again', () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    expect(find(`<tool_call>{"name": "web_search", "arguments": ${deep}}</tool_call>`).calls[0]?.input).toContain(deep);
  });

  it('may name a tool that does not exist', () => {
    expect(find('tool_call_name: nope\ntool_call_arguments: {}').calls).toEqual([{ name: 'nope', input: '{}' }]);
  });

  it('are no calls in prose', () => {
    expect(find('I used web_search before.').calls).toEqual([]);
    expect(find('').calls).toEqual([]);
  });

  it.each([
    ['a block in code', '```xml\n<tool_call>{"name": "web_search"}</tool_call>\n```'],
    ['a block in a line of code', 'Write `<tool_call>{"name": "web_search"}</tool_call>` there.'],
    ['a quotation', '> The page: <tool_call>{"name": "web_search"}</tool_call>'],
    ['a quotation in the documented form', '> tool_call_name: web_search'],
    ['a name in code', '```\nget_time\n```'],
    ['a name in marks', '`get_time`'],
  ])('are no calls: %s', (_what, text) => {
    expect(find(text).calls).toEqual([]);
  });

  it('may stand in code in the documented form, and behind it in any', () => {
    expect(find('```\ntool_call_name: get_time\n```').calls).toHaveLength(1);
    expect(find('```\nx\n```\n<tool_call>{"name": "get_time"}</tool_call>').calls).toHaveLength(1);
    expect(find('Use `x`: <tool_call>{"name": "get_time"}</tool_call>').calls).toHaveLength(1);
  });

  it.each([
    ['a block', '<tool_call>{"name": "web_search"}</tool_call>', 'See <tool_call>{"name":"web_search"}</tool_call>!'],
    ['a block without its end', '<tool_call>{"name": "web_search"}', 'x <tool_call>{"name": "web_search"}</tool_call>'],
    [
      'lines',
      'tool_call_name: web_search\ntool_call_arguments: {"q": 1}',
      '`tool_call_name: web_search tool_call_arguments: {"q":1}`',
    ],
    [
      'escaped lines',
      'tool_call_name: web_search\ntool_call_arguments: {"q": "a"}',
      JSON.stringify({ page: 'tool_call_name: WEB_SEARCH\ntool_call_arguments: {"q": "a"}' }),
    ],
    ['a name', 'get_time', 'Steps:\n> get_time\nend'],
    ['a name with arguments', 'web_search\n{"q": "a"}', 'x web_search\n{ "q": "a" }'],
  ])('are no calls when they were in what the model was given: %s', (_what, text, given) => {
    expect(find(text).calls).toHaveLength(1);
    expect(find(text, given).calls).toEqual([]);
  });

  it('run beside a quotation, and when only their name was told', () => {
    const text = 'tool_call_name: web_search\ntool_call_arguments: {"q": "evil"}\ntool_call_name: get_time';
    expect(find(text, 'tool_call_name: web_search\ntool_call_arguments: {"q": "evil"}').calls).toEqual([
      { name: 'get_time', input: '' },
    ]);
    expect(find('get_time', 'I think get_time tells the time').calls).toHaveLength(1);
    expect(find('web_search\n{"q": "a"}', 'web_search\n{"q": "b"}').calls).toHaveLength(1);
  });

  // It takes some milliseconds; what looks at the same place again and again takes many seconds.
  it.each([
    ['blanks', `${' '.repeat(300_000)}x`],
    ['empty lines', `${'\n'.repeat(300_000)}x`],
    ['arguments without end', `tool_call_name: get_time\ntool_call_arguments: {\n${'a\n'.repeat(150_000)}`],
    ['marks', `tool_call_name: get_time\ntool_call_arguments: ${'`'.repeat(300_000)}x`],
    ['marks before a call', `${'`'.repeat(300_000)}!\n<tool_call>{"name":"get_time"}</tool_call>`],
    ['code before a call', `\`\`\`${'a'.repeat(300_000)}!\ntool_call_name: get_time`],
    ['calls', 'get_time\n'.repeat(30_000)],
    ['escapes', `${'\\\\'.repeat(150_000)}\nget_time`],
    ['blocks', '<tool_call>{</tool_call>'.repeat(12_000)],
    ['blocks without end', '<tool_call>'.repeat(27_000)],
    ['a long name', `tool_call_name: ${'a'.repeat(300_000)}\u2028x`],
    ['thoughts without end', '<think>'.repeat(40_000)],
    ['functions without end', '<function='.repeat(30_000)],
    ['lists without end', '[TOOL_CALLS]['.repeat(20_000)],
    ['ends of lists', `[TOOL_CALLS][${`]${' '.repeat(100)}x`.repeat(3_000)}`],
  ])('are looked for in one pass: %s', (_what, text) => {
    const startMs = performance.now();
    find(text, text);
    withoutVendorTokens(text);
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });
});

describe('what models write for their own template', () => {
  it.each([
    ['<tool_call>{"name": "x"}</tool_call>Hi', 'Hi'],
    ['Hi <function=x>{"a": 1}</function>', 'Hi'],
    ['Hi\n[TOOL_CALLS] [{"name": "x", "arguments": {}}]', 'Hi'],
    ['<think>so so</think>\n\nHi', 'Hi'],
    ['Hi<|im_end|>', 'Hi'],
    ['<|tool_calls_section_begin|>x<|tool_calls_section_end|>Hi', 'Hi'],
    ['<tool_call>{"name": "cut', ''],
  ])('is cut from %j', (text, rest) => {
    expect(withoutVendorTokens(text)).toBe(rest);
    expect(hasLeakedSyntax(text)).toBe(true);
  });

  it('leaves other text as it is', () => {
    const text = 'Use `<b>` and\n\n\n\n[brackets].';
    expect(withoutVendorTokens(text)).toBe(text);
    expect(hasLeakedSyntax(text)).toBe(false);
  });
});
