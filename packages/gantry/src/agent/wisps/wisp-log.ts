import { appendFile, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { makeFolder } from '../../kernel/make-folder.ts';
import { redactText } from '../../text/scrub-strictly.ts';
import type { WispResult } from './run-wisp.ts';

/** The record of what pipelines did: one JSON object a line, appended. */
export interface WispLog {
  /** Adds the records of a batch. A log that cannot be written is a warning and nothing more. */
  append(batch: {
    readonly batchId: string;
    readonly session: string | undefined;
    readonly results: readonly WispResult[];
  }): Promise<void>;
}

const maxBytes = 10 * 1024 * 1024;
const mostFailures = 1_000;
const messageChars = 500;

/** Makes a log over a file. At 10 MB it is renamed to `….1` and begun anew. */
export const createWispLog = ({
  path,
  clock,
  log,
}: {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
}): WispLog => {
  /** The last failure of a definition in a session, so that a success after it can be seen as what helped. */
  const failures = new Map<string, string>();
  let writing = Promise.resolve();

  const retryOf = (session: string | undefined, { definition, isSuccess, wispId }: WispResult): string | undefined => {
    const key = `${session ?? ''}#${definition.hash}`;
    const failed = failures.get(key);
    failures.delete(key);
    if (isSuccess) return failed;
    failures.set(key, wispId);
    const [oldest] = failures.keys();
    if (failures.size > mostFailures && oldest !== undefined) failures.delete(oldest);
    return undefined;
  };

  const write = async (text: string): Promise<void> => {
    await makeFolder(dirname(path));
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    if (size > maxBytes) await rename(path, `${path}.1`);
    // It names what somebody was working on.
    await appendFile(path, text, { mode: 0o600 });
  };

  return {
    append: ({ batchId, session, results }) => {
      const text = results
        .map((result) => {
          const { wispId, definition, isSuccess, durationMs, steps, failure } = result;
          const record = {
            at: new Date(clock.nowMs()).toISOString(),
            batchId,
            wispId,
            session,
            definition: definition.hash,
            description: redactText(definition.description),
            isSuccess,
            durationMs,
            steps: steps.map(({ id, status, durationMs: took }) => ({ id, status, durationMs: took })),
            failure: failure && {
              stepId: failure.stepId,
              tool: failure.tool,
              category: failure.category,
              message: redactText(failure.message).slice(0, messageChars),
            },
            retryOf: retryOf(session, result),
          };
          return `${JSON.stringify(record)}\n`;
        })
        .join('');
      writing = writing
        .then(() => write(text))
        .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'the log of wisps could not be written'));
      return writing;
    },
  };
};
