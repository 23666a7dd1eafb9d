import type { ToolGuide } from '../tool/guide.ts';

/** The usage guide of the working memory tools. */
export const memoryGuide: ToolGuide = {
  name: 'memory',
  summary: 'Keep, read and find texts between steps and between agents (working memory).',
  getDocument: () => document,
};

const document = `# Working memory

A place for texts that later steps, or other agents, need: intermediate results, long tool results, notes. It is not for
good: every entry expires, after 5 minutes unless you say otherwise.

## Tools

| Tool | Use |
|---|---|
| \`save_to_working_memory(key, data, ttl_minutes?, category?, tags?)\` | Keep a text. An existing key is replaced. |
| \`get_from_working_memory(key)\` | Read the whole text. |
| \`search_working_memory(query?, category?, tags?, namespace?)\` | Find entries, best first; without a query, list them, newest first. |
| \`delete_from_working_memory(key)\` | Remove an entry that is no longer needed. |

## Keys

- A key without \`/\` lies in your own namespace: \`plan\` in session 42 is \`session/42/plan\`.
- A key with \`/\` is a full path and is used as it is. Copy full paths from listings and tool results unchanged.
- You may read any key you know. You may write to your own namespace and to \`shared/\`, which every agent sees.
- Upper and lower case do not matter.

## Long tool results

A result that is too long is split and kept here. You get a table of headings and keys instead. Read the chunks you need with
\`get_from_working_memory\` before you draw conclusions; the entry that ends in \`-index\` holds the outline.

## Working with other agents

- Results of a subagent lie under \`subagent/{task id}/\`: list them with \`search_working_memory(namespace: "subagent/{task id}")\`.
- When you work for another agent, save long output with \`ttl_minutes\` of 240 or more and name the keys in your answer.

## Limits

- A namespace holds 50 entries; a new key beyond that is refused, replacing one is not. Chunks of tool results do not count.
- A missing key is not an error: you are told the full path that was looked up. Check it before you conclude that nothing is there.
- Never save passwords, tokens or keys.
`;
