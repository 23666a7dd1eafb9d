import { cutText } from '../../text/cut.ts';

/** Longest instructions of a server, in characters: as a model is shown them, and as a summary is made from them. */
export const instructionsCap = { details: 2_000, summary: 8_000 } as const;

const guideLike = /guide|skill|help|instructions|readme|docs/i;

/** True for a tool that seems to explain its server. */
export const isGuideLike = (toolName: string): boolean => guideLike.test(toolName);

/**
 * A server's instructions, at most `maxChars` of them: cut at the end of a line where that keeps at least half, with a marker that says how
 * much is shown and which of the server's tools may tell the rest.
 */
export const capInstructions = (
  instructions: string | undefined,
  maxChars: number,
  guides: readonly string[] = [],
): string | undefined => {
  if (instructions === undefined || instructions.length <= maxChars) return instructions;
  const lineEnd = instructions.lastIndexOf('\n', maxChars);
  const kept = (lineEnd < maxChars / 2 ? cutText(instructions, maxChars) : instructions.slice(0, lineEnd)).trimEnd();
  const more = guides.length > 0 ? ` For the rest try ${guides.join(', ')}.` : ' The rest is not available here.';
  return `${kept}\n\n[Server instructions truncated: ${kept.length} of ${instructions.length} characters shown.${more}]`;
};
