/** A block in which models write calls and thoughts for their own template; they leak where a server does not know the template. */
interface Block {
  readonly opens: RegExp;
  readonly closes: RegExp;
  /** What begins and does not end is no block; otherwise it goes on to the end of the text. */
  readonly mustClose?: true;
}

// One pass over the text for each: what opens has a bounded length, and a block that was read is not looked at again.
const blocks: readonly Block[] = [
  { opens: /<tool_call>/g, closes: /<\/tool_call>/g },
  { opens: /<\|tool_calls?_(?:begin|section_begin)\|>/g, closes: /<\|tool_calls?_(?:end|section_end)\|>/g },
  { opens: /<｜tool▁calls▁begin｜>/g, closes: /<｜tool▁calls▁end｜>/g },
  { opens: /<function=[^>]{0,200}>/g, closes: /<\/function>/g },
  { opens: /\[TOOL_CALLS\]\s{0,20}\[/g, closes: /\](?=[^\S\n]{0,20}(?:\n|$))/g },
  { opens: /<\|python_tag\|>/g, closes: /(?=\n)/g },
  { opens: /<think>/g, closes: /<\/think>/g, mustClose: true },
];
const marks = /<\|(?:im_start|im_end|eot_id|endoftext|end_of_turn|start_header_id|end_header_id)\|>/g;

/** The text without what was meant for the model's own template. */
export const withoutVendorTokens = (text: string): string => {
  let cut = text;
  for (const block of blocks) cut = without(cut, block);
  cut = cut.replaceAll(marks, '');
  return cut === text ? text : cut.replaceAll(/\n{3,}/g, '\n\n').trim();
};

/** The text holds the syntax of a call that nothing read as one. */
export const hasLeakedSyntax = (text: string): boolean =>
  withoutVendorTokens(text) !== text || /tool_call_(?:name|arguments):/i.test(text);

const without = (text: string, { opens, closes, mustClose }: Block): string => {
  let kept = '';
  let from = 0;
  while (from < text.length) {
    opens.lastIndex = from;
    const open = opens.exec(text);
    if (!open) break;
    closes.lastIndex = open.index + open[0].length;
    const close = closes.exec(text);
    if (!close && mustClose) break;
    kept += text.slice(from, open.index);
    from = close ? close.index + close[0].length : text.length;
  }
  return from === 0 ? text : kept + text.slice(from);
};
