import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { Tool } from '../tool/executor.ts';
import type { Volume } from '../volume/volume.ts';
import type { RunnerChoice } from './choose-runner.ts';
import type { ScriptRequest, ScriptRunner } from './runner.ts';
import { toScriptOutcome } from './script-outcome.ts';

/** What the script tools work with. */
export interface ScriptToolsOptions {
  /** Which runner is in force for Python; asked at each call, so it may decide on the first. */
  readonly python: () => Promise<RunnerChoice>;
  readonly javascript: ScriptRunner;
  /** Where files that scripts leave are saved. */
  readonly volume: Volume;
  /** Most that a call may ask for; default 300. */
  readonly maxTimeoutSeconds?: number | undefined;
  /** The runner for Python brings back what scripts write. Default true. */
  readonly savesFiles?: boolean | undefined;
}

/** Where the tools come from. */
export const scriptsSource = 'scripts';

const defaultTimeoutSeconds = 30;
const annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };

const script = (language: string) =>
  z.string().min(1).describe(`${language} source code. Print the result; JSON is best.`);
const inputData = (where: string) => z.string().optional().describe(`Any text, which the script finds in ${where}.`);
const timeoutSeconds = (most: number) =>
  z.preprocess(
    // What is no number means the default, so that a script is not lost over a detail.
    (value) => (typeof value === 'number' ? value : numberIn(value)),
    z
      .number()
      .optional()
      .describe(`Seconds until the script is ended, 1 to ${most}; default ${defaultTimeoutSeconds}.`),
  );

/** The tools by which a model runs scripts: `execute_python_script` and `execute_javascript_script`. */
export const scriptTools = (options: ScriptToolsOptions): readonly Tool[] => {
  const { volume, maxTimeoutSeconds = 300, savesFiles = true } = options;

  const run = async (runner: ScriptRunner, request: ScriptRequest, signal: AbortSignal | undefined) =>
    toScriptOutcome(await runner.run(request, { signal }), volume);

  return [
    defineTool({
      name: 'execute_python_script',
      title: 'Run Python',
      description: `Runs a Python script by itself, without network, and returns what it prints. For calculations, data conversion and text processing. ${
        savesFiles
          ? 'Files that it writes to its current folder are saved to the shared folder.'
          : 'Files that it writes are lost.'
      }`,
      source: scriptsSource,
      annotations,
      timeoutMs: 0,
      input: z.strictObject({
        script: script('Python'),
        input_data: inputData('the environment variable GANTRY_INPUT'),
        timeout_seconds: timeoutSeconds(maxTimeoutSeconds),
        pip_packages: z
          .array(z.string())
          .optional()
          .describe(
            'Packages to install before, such as ["numpy", "pandas==2.2.3"]. Slow the first time; names and versions only.',
          ),
      }),
      execute: async (args, context) => {
        const choice = await options.python();
        if (!choice.runner) throw new GantryError('execution_failed', `Python scripts cannot be run. ${choice.reason}`);
        const request: ScriptRequest = {
          interpreter: 'python',
          script: args.script,
          inputData: args.input_data,
          packages: args.pip_packages,
          timeoutMs: toTimeoutMs(args.timeout_seconds, maxTimeoutSeconds, context.timeoutMs),
        };
        return run(choice.runner, request, context.signal);
      },
    }),
    defineTool({
      name: 'execute_javascript_script',
      title: 'Run JavaScript',
      description:
        'Runs a JavaScript module (ES2023) in a small engine without files, network or imports, and returns what console.log prints. Starts faster than Python; for calculations, JSON and text.',
      source: scriptsSource,
      annotations,
      timeoutMs: 0,
      input: z.strictObject({
        script: script('JavaScript'),
        input_data: inputData('process.env.GANTRY_INPUT'),
        timeout_seconds: timeoutSeconds(maxTimeoutSeconds),
      }),
      execute: (args, context) =>
        run(
          options.javascript,
          {
            interpreter: 'javascript',
            script: args.script,
            inputData: args.input_data,
            timeoutMs: toTimeoutMs(args.timeout_seconds, maxTimeoutSeconds, context.timeoutMs),
          },
          context.signal,
        ),
    }),
  ];
};

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : undefined;

/** The time of a run: whole seconds within the limits, and never longer than the caller waits. */
const toTimeoutMs = (seconds: number | undefined, mostSeconds: number, callerMs: number | undefined): number => {
  const wanted = Number.isInteger(seconds) ? (seconds as number) : defaultTimeoutSeconds;
  return Math.min(Math.max(1, Math.min(wanted, mostSeconds)) * 1000, callerMs ?? Number.POSITIVE_INFINITY);
};
