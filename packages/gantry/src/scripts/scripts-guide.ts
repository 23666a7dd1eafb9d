import type { ToolGuide } from '../tool/guide.ts';
import type { ScriptLimits } from './runner.ts';

/** What the guide tells of this installation. */
export interface ScriptsGuideFacts {
  readonly limits: ScriptLimits;
  readonly maxTimeoutSeconds: number;
  /** Packages may be installed. */
  readonly packages: boolean;
  /** What Python scripts write is kept. */
  readonly savesFiles: boolean;
  /** Path of the folder that scripts may read, where there is one. */
  readonly readable?: string | undefined;
  /** One sentence about the runner in force, once one was chosen. */
  readonly runner?: string | undefined;
}

/** The usage guide of the script tools. */
export const scriptsGuide = (facts: () => ScriptsGuideFacts): ToolGuide => ({
  name: 'scripts',
  summary: 'Run Python or JavaScript: calculations, conversions, text processing.',
  getDocument: () => documentOf(facts()),
});

const megabytes = (bytes: number): string => `${Math.round(bytes / (1024 * 1024))} MB`;

const documentOf = ({
  limits,
  maxTimeoutSeconds,
  packages,
  savesFiles,
  readable,
  runner,
}: ScriptsGuideFacts): string => `# Scripts

Use a script where exactness counts: arithmetic, dates, sorting, counting, parsing, converting. Do not use one for what another
tool does, such as reading a page, or for what you can say at once.

## Which tool

| Tool | Use |
|---|---|
| \`execute_javascript_script(script, input_data?, timeout_seconds?)\` | JSON, text, quick calculations. Starts fastest. No files, no imports. |
| \`execute_python_script(script, input_data?, timeout_seconds?, pip_packages?)\` | Everything else: the standard library, files, packages. |

## How to write one

- Print the result; only standard output is returned. JSON is best: \`print(json.dumps(result))\`.
- Data goes into \`input_data\`, not into the source: \`os.environ["GANTRY_INPUT"]\` in Python, \`process.env.GANTRY_INPUT\` in JavaScript. At most 120 KB.
- End normally, or with exit code 0. Any other code makes the call a failure, and its errors are shown to you.
- Each script is on its own: nothing is kept from one to the next. Keep results in the working memory.
- In JavaScript, await your promises at the top level; an error in a promise that nobody awaits is lost. Timers do not really wait.

## Files

${savesFiles ? '- Python: files that the script writes to its current folder are saved to the shared folder, and their paths are returned.' : '- Files that a script writes are lost when it ends; print the result.'}
${readable === undefined ? '- No file of the host can be read.' : `- Files below \`${readable}\` can be read at the paths that other tools give.`}

## Packages

${
  packages
    ? `- \`pip_packages\`: names with an optional version, such as \`["numpy", "pandas==2.2.3"]\`. They must exist as wheels.
- The first use of a set takes a while: give \`timeout_seconds\` of 120 or more. Later uses are fast.`
    : '- Packages cannot be installed here; use the standard library.'
}

## Limits

- No network. Fetch data with another tool and give it as input.
- Time: 30 s unless \`timeout_seconds\` says otherwise, at most ${maxTimeoutSeconds}. Processor time: two thirds of that.
- Memory ${megabytes(limits.memoryBytes)}, ${limits.maxProcesses} processes, ${megabytes(limits.maxFileBytes)} for one file, ${megabytes(limits.maxDiskBytes)} for all.
- Of the output, the beginning and the end are kept, ${megabytes(limits.keptOutputBytes)} together.
- A failure names the limit that was reached. Change the script before you try again.
${runner === undefined ? '' : `\nRunner in force: ${runner}\n`}`;
