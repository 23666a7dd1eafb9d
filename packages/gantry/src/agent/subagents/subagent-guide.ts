import type { ToolGuide } from '../../tool/guide.ts';

/** The usage guide of subagents, with the limits that hold now. */
export const subagentGuide = (limits: {
  readonly maxConcurrent: number;
  readonly defaultTimeoutMinutes: number;
}): ToolGuide => ({
  name: 'subagents',
  summary: 'Hand a task to an agent that works beside the conversation and reports when it is done.',
  getDocument: () => `# Subagents

A subagent does one task on its own, with its own tools and its own working memory, while the conversation goes on.

## When

- Work of many steps that would fill this conversation (research, going through many items).
- Several independent tasks: start them in one answer; they run side by side, at most ${limits.maxConcurrent} at a time.
- Not for one or two calls: make them yourself.

## How

| Tool | Use |
|---|---|
| \`spawn_subagent(description, context?, inputs?, timeout_minutes?, max_iterations?, consolidate?)\` | Starts one; gives a \`task_id\` at once. |
| \`list_subagents()\` | The active ones of this conversation. |
| \`cancel_subagent(task_id)\` | Ends one. |

- It sees nothing of this conversation. Put every name, number and condition into \`description\`, and what form the result should have.
- \`inputs\` hands over texts: keys of working memory or paths of the shared folder.
- After starting, tell the user and end your turn, or go on with something else. Reports (\`[Subagent task … reports]\`) and the result
  (\`[Subagent task … completed]\`) arrive as notices, and you answer them. Never poll.
- It ends after ${limits.defaultTimeoutMinutes} minutes unless you give \`timeout_minutes\`.

## Results

Its working memory is \`subagent/{task_id}/\`: read it at any time with full keys, or list it with
\`search_working_memory(namespace: "subagent/{task_id}")\`. Outputs stay four hours. \`shared/…\` is common to all.

## Limits

A subagent starts no subagents, schedules nothing, adds no servers, and cannot ask the user: decisions of servers are declined and
reported. It ends with the process; then the conversation is told that it was interrupted.
`,
});
