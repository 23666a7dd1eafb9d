import type { ToolGuide } from '../../tool/guide.ts';

/** The usage guide of workers. */
export const workerGuide = ({ maxConcurrent }: { readonly maxConcurrent: number }): ToolGuide => ({
  name: 'workers',
  summary: 'Let small agents do several alike tasks side by side, and wait for them.',
  getDocument: () => `# Workers

\`spawn_workers(definitions)\` runs one small agent for each definition, at most ${maxConcurrent} at a time, and waits for all of them.

## When

| the work | use |
|---|---|
| the same known steps over many items | \`spawn_wisps\` |
| several alike tasks of a few calls each, where the next call depends on the last | \`spawn_workers\` |
| one long task, while the conversation goes on | \`spawn_subagent\` |

## How

\`\`\`json
{"definitions": [
  {"description": "Find out when Ada is free on 3 May, and give the free hours.", "tools_allow": ["calendar.*"], "result_key": "ada"},
  {"description": "Find out when Bo is free on 3 May, and give the free hours.", "tools_allow": ["calendar.*"], "result_key": "bo"}
]}
\`\`\`

- A worker sees nothing of this conversation: put all it needs into \`description\` and \`context\`.
- It has the tools of servers, pipelines, its own working memory and the shared folder. With \`tools_allow\` it has of servers only the tools
  that match, and no pipelines. It delegates no further, and the small model does it all, in at most 12 rounds of calls.
- \`timeout_minutes\`: 5 by default.

## Results

Each worker is reported with \`isSuccess\`, the beginning of its \`result\`, the \`resultKey\` under which all of it is kept for four hours,
\`factsRecorded\` (entries that it saved below \`worker/{taskId}/\`), \`blocked\` (it could not go on, \`failureReason\` says why) and
\`convergedPatterns\`: calls that worked again and again, which could be a wisp the next time. One that fails ends no other; run only the
failed ones again, with what was missing.
`,
});
