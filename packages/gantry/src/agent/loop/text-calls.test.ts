import { describe, expect, it } from 'vitest';
import { findTextCalls } from './text-calls.ts';
import { hasLeakedSyntax, withoutVendorTokens } from './vendor-tokens.ts';

const toolNames = ['web_search', 'get_time'];
const find = (text: string, bareNames = true) => findTextCalls(text, { toolNames, bareNames });

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

  it('may name a tool that does not exist', () => {
    expect(find('tool_call_name: nope\ntool_call_arguments: {}').calls).toEqual([{ name: 'nope', input: '{}' }]);
  });

  it('are no calls: prose, and a bare name where these are not read', () => {
    expect(find('I used web_search before.').calls).toEqual([]);
    expect(find('web_search\n{"q": "a"}', false).calls).toEqual([]);
    expect(find('').calls).toEqual([]);
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
