import type { ToolGuide } from '../../tool/guide.ts';

/** The usage guide of pipelines. */
export const wispGuide = ({ maxConcurrent }: { readonly maxConcurrent: number }): ToolGuide => ({
  name: 'wisps',
  summary: 'Run fixed pipelines of calls over many items, side by side, without their results in between.',
  getDocument: () => `# Wisps

A wisp is a pipeline: steps that run one after another. \`spawn_wisps(definitions)\` runs several side by side (at most ${maxConcurrent} at a
time), waits for all, and reports each. For work whose steps you know beforehand; for work that has to be thought through as it goes, use a
subagent or do it yourself.

\`\`\`json
{"definitions": [{
  "description": "Read a page and sum it up",
  "steps": [
    {"id": "page", "mode": "Direct", "gateway": "Web", "tool": "web_browse", "params": {"url": "https://example.com"},
     "on_failure": {"action": "skip_to", "skip_to": "note"}},
    {"id": "sum", "mode": "Llm", "prompt": "Sum up in three sentences.", "input_from": "page", "output_to": "sums/example.md"},
    {"id": "note", "mode": "Direct", "gateway": "Mcp", "server": "notes", "tool": "add", "params": {"text": "read example.com"}}
  ]
}]}
\`\`\`

## Steps

| mode, gateway | needs | does |
|---|---|---|
| Direct, Mcp | \`tool\` (typed name), or \`server\` and \`tool\`; \`params\` | one call of a server's tool |
| Direct, Web | \`tool\`: web_search or web_browse; \`params\` | one search, one page |
| Direct, Script | \`params.script\`; \`language\` python or javascript | one script; \`input_from\` becomes its input_data |
| Llm | \`prompt\` | a small model, with the tools of the Direct steps, those in \`tools\`, and working memory |

- \`{{steps.<id>.result}}\` is what an earlier step gave, \`{{steps.<id>.output_to}}\` the file it was written to; in \`params\`, \`prompt\`
  and \`input_from\`, but not in \`params.script\`: a script has what \`input_from\` names in the environment variable GANTRY_INPUT. Make a Script step print JSON when a later step takes it apart.
- An Llm step without \`input_from\` gets the results of all steps before it.
- A Direct step that fails ends its wisp, or goes on with the later step in \`on_failure\`. An Llm step that fails always ends it.
- Servers' questions are answered by their policy, and calls never go on in the background.

## Results

Each wisp is reported with its last result (2,000 characters) or why it failed: **Structural** (change the definition), **External** (try
again later), **Data** (look at what went in), **Judgment** (change the prompt). Results of the steps are kept under
\`wisp/{wisp id}/{step id}/output\`, for 5 minutes when the wisp worked and 60 when it failed; the summary under the key at the end of the
report. Run only the wisps that failed again.
`,
});
