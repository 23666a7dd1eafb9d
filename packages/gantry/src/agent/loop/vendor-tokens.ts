/** Blocks in which models write calls and thoughts for their own template; they leak where a server does not know the template. */
const blocks: readonly RegExp[] = [
  /<tool_call>[\s\S]*?(?:<\/tool_call>|$)/g,
  /<\|tool_calls?_(?:begin|section_begin)\|>[\s\S]*?(?:<\|tool_calls?_(?:end|section_end)\|>|$)/g,
  /<｜tool▁calls▁begin｜>[\s\S]*?(?:<｜tool▁calls▁end｜>|$)/g,
  /<function=[^>]*>[\s\S]*?(?:<\/function>|$)/g,
  /\[TOOL_CALLS\]\s*\[[\s\S]*?(?:\]\s*(?=\n|$)|$)/g,
  /<\|python_tag\|>[^\n]*/g,
  /<think>[\s\S]*?<\/think>/g,
];
const marks = /<\|(?:im_start|im_end|eot_id|endoftext|end_of_turn|start_header_id|end_header_id)\|>/g;

/** The text without what was meant for the model's own template. */
export const withoutVendorTokens = (text: string): string => {
  let cut = text;
  for (const block of blocks) cut = cut.replaceAll(block, '');
  cut = cut.replaceAll(marks, '');
  return cut === text ? text : cut.replaceAll(/\n{3,}/g, '\n\n').trim();
};

/** The text holds the syntax of a call that nothing read as one. */
export const hasLeakedSyntax = (text: string): boolean =>
  withoutVendorTokens(text) !== text || /tool_call_(?:name|arguments):/i.test(text);
