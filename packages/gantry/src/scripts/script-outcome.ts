import { basename } from 'node:path';
import { cutIndex, cutText } from '../text/cut.ts';
import type { Attachment, Outcome, Part } from '../tool/outcome.ts';
import type { Volume } from '../volume/volume.ts';
import { mimeOf } from './mime-of.ts';
import type { ScriptResult } from './runner.ts';

const savedIn = 'scripts';

/**
 * The outcome of a tool call that ran a script: standard output alone when it succeeded, else what went wrong and both streams.
 * Files that it left are saved to the shared folder and named in a part of their own.
 */
export const toScriptOutcome = async (result: ScriptResult, volume: Volume): Promise<Outcome> => {
  const attachments: Attachment[] = [];
  const save = async (name: string, bytes: Uint8Array): Promise<string> => {
    const saved = await volume.saveNew(savedIn, name, bytes);
    attachments.push({ path: saved.path, name: saved.name, size: saved.size, mime: mimeOf(saved.name) });
    return saved.path;
  };
  for (const { path, bytes } of result.files) await save(basename(path), bytes);
  const stdout = await shortened(result, save);
  const filesText = describeFiles(attachments, result.filesLeftOut);
  const files: Part[] = filesText === '' ? [] : [text(filesText)];
  if (result.outcome === 'success')
    return { status: 'done', parts: [text(stdout === '' ? '(no output)' : stdout), ...files], attachments };
  const message = describeFailure(result, stdout);
  return {
    status: 'failed',
    failure: {
      code: result.outcome === 'timeout' ? 'timeout' : 'execution_failed',
      message,
      retry: 'never',
      reported: { parts: [text(message), ...files], attachments },
    },
  };
};

const shownStartChars = 16_000;
const shownEndChars = 8000;
const shownErrorChars = 8000;

/**
 * Output that was too long to be kept whole: its beginning and end, with what was kept in a file. Shorter output stays as it
 * is, since it is split into readable pieces where that is needed.
 */
const shortened = async (
  { stdout, stdoutBytes }: ScriptResult,
  save: (name: string, bytes: Uint8Array) => Promise<string>,
): Promise<string> => {
  const kept = Buffer.from(stdout);
  if (kept.length >= stdoutBytes) return stdout;
  const path = await save('output.txt', kept);
  return `${cutText(stdout, shownStartChars)}\n[… of ${stdoutBytes} bytes of output only the beginning and the end are shown; ${kept.length} bytes are kept in ${path} …]\n${lastOf(stdout, shownEndChars)}`;
};

const lastOf = (long: string, chars: number): string => long.slice(cutIndex(long, long.length - chars));

const text = (content: string): Part => ({ type: 'text', text: content });

const describeFailure = (result: ScriptResult, stdout: string): string => {
  const head =
    result.outcome === 'timeout'
      ? `Script timed out. ${result.message} Raise timeout_seconds, simplify the script, or do without one.`
      : `Script failed (${result.exitCode === null ? (result.signal ?? result.limit) : `exit ${result.exitCode}`}). ${result.message}`;
  const streams = [
    stdout === '' ? '' : `Output:\n${stdout}`,
    result.stderr === '' ? '' : `Errors:\n${lastOf(result.stderr, shownErrorChars)}`,
  ];
  return [head, ...streams.filter((stream) => stream !== '')].join('\n\n');
};

const describeFiles = (saved: readonly Attachment[], leftOut: readonly string[]): string => {
  const lines = saved.map(({ path, size }) => `- ${path} (${size} bytes)`);
  if (saved.length > 0) lines.unshift('Files saved:');
  if (leftOut.length > 0) lines.push('Files not saved:', ...leftOut.slice(0, 20).map((each) => `- ${each}`));
  return lines.join('\n');
};
