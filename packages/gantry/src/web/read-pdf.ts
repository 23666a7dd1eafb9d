import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { abortReason } from '../kernel/abort.ts';
import type { Clock } from '../kernel/clock.ts';
import { GantryError, messageOf } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';
import { workerUrl } from '../kernel/worker-url.ts';
import { flattenText } from '../text/flatten.ts';

/** The text of a PDF. */
export interface PdfText {
  readonly title: string;
  /** One text per page that was read. */
  readonly pages: readonly string[];
  readonly totalPages: number;
}

/** What the process writes. */
export type PdfReport =
  | { readonly ok: true; readonly text: PdfText }
  | { readonly ok: false; readonly problem: string };

/** Reads the text of a PDF. */
export type ReadPdf = (bytes: Uint8Array, options?: { readonly signal?: AbortSignal | undefined }) => Promise<PdfText>;

const maxOutputBytes = 48 * 1024 * 1024;

/**
 * Makes a reader that gives every PDF a process of its own: a few hundred bytes of one can unpack to gigabytes, and limits of a thread
 * do not count buffers. The process may read files and nothing else.
 *
 * @param options `timeoutMs` is what one PDF may take, default 10 s.
 * @throws {GantryError} (from the reader) `execution_failed` for what is no PDF, `timeout`.
 */
export const createPdfReader =
  (options: { readonly clock: Clock; readonly timeoutMs?: number | undefined }): ReadPdf =>
  (bytes, { signal } = {}) =>
    new Promise((resolve, reject) => {
      const { clock, timeoutMs = 10_000 } = options;
      const program = fileURLToPath(workerUrl('web/pdf-process'));
      const child = spawn(
        process.execPath,
        [
          '--max-old-space-size=512',
          '--permission',
          '--allow-fs-read=*',
          '--disable-warning=ExperimentalWarning',
          program,
        ],
        { env: {}, stdio: ['pipe', 'pipe', 'ignore'] },
      );
      const output: Buffer[] = [];
      let outputBytes = 0;
      let failure: GantryError | undefined;
      const stop = (reason: GantryError): void => {
        failure ??= reason;
        child.kill('SIGKILL');
      };
      const timer = clock.startTimer(timeoutMs, () =>
        stop(
          new GantryError('timeout', `The PDF could not be read within ${timeoutMs} ms.`, { details: { timeoutMs } }),
        ),
      );
      const onAbort = (): void => stop(abortReason(signal as AbortSignal));
      if (signal?.aborted) onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      child.stdout.on('data', (piece: Buffer) => {
        output.push(piece);
        outputBytes += piece.byteLength;
        if (outputBytes > maxOutputBytes) stop(unreadable('it holds too much text'));
      });
      // A process that ends early closes its input; how it ended says why.
      child.stdin.on('error', () => {});
      child.on('error', (error) => {
        failure ??= unreadable(messageOf(error));
      });
      child.on('close', () => {
        timer.stop();
        signal?.removeEventListener('abort', onAbort);
        const parsed = failure ? undefined : parseJson(Buffer.concat(output).toString());
        const report = parsed?.ok ? (parsed.value as PdfReport) : undefined;
        if (report?.ok) resolve(report.text);
        else reject(failure ?? unreadable(report?.problem ?? 'its reader ran out of memory'));
      });
      child.stdin.end(bytes);
    });

const unreadable = (problem: string): GantryError =>
  new GantryError('execution_failed', `The PDF cannot be read: ${flattenText(problem)}.`);

/** The pages as one text with a heading each, so that a long document can be split and navigated by page. */
export const pdfMarkdown = ({ pages, totalPages }: PdfText): string => {
  const body =
    pages.length === 1
      ? (pages[0] as string)
      : pages.map((page, index) => `## Page ${index + 1}\n\n${page}`).join('\n\n');
  return pages.length < totalPages ? `Pages 1 to ${pages.length} of ${totalPages}:\n\n${body}` : body;
};
