import type { GantryErrorCode } from '../kernel/errors.ts';
import { GantryError, messageOf } from '../kernel/errors.ts';
import { scrubText } from '../text/scrub.ts';
import { truncateText } from '../text/truncate.ts';
import type { Failure, FailureCode } from '../tool/outcome.ts';

/** How an error code of Gantry is told to a model; what is not listed is `execution_failed`. */
const told: Partial<Record<GantryErrorCode, FailureCode>> = {
  tool_not_found: 'tool_not_found',
  server_unknown: 'tool_not_found',
  server_unreachable: 'tool_not_found',
  invalid_arguments: 'invalid_arguments',
  path_refused: 'invalid_arguments',
  address_refused: 'invalid_arguments',
  memory_refused: 'invalid_arguments',
  timeout: 'timeout',
  auth_required: 'auth_required',
};

/**
 * Turns anything thrown into what a model may read: the code and the message without secrets. The message of an error
 * that is not Gantry's own also loses the directories of absolute paths, since nobody wrote it for a reader outside. A very long one is
 * cut: programs put whole answers of others into their errors.
 */
export const toFailure = (thrown: unknown): Failure => {
  if (GantryError.is(thrown))
    return { code: told[thrown.code] ?? 'execution_failed', message: readable(thrown.message), retry: thrown.retry };
  const message = readable(withoutDirectories(messageOf(thrown))) || 'The tool failed without saying why.';
  return isTimeout(thrown)
    ? { code: 'timeout', message, retry: 'later' }
    : { code: 'execution_failed', message, retry: 'never' };
};

const mostChars = 20_000;

// Cut last: half a secret is not known for one.
const readable = (message: string): string => truncateText(scrubText(message), mostChars);

// AbortSignal.timeout() and many clients reject with an error of this name.
const isTimeout = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === 'TimeoutError';

const withoutDirectories = (message: string): string =>
  message.replaceAll(/(?<![\w:/])(?:\/[^\s/'"`,:;()]+)+\/(?=[^\s/'"`,:;()]+)/g, '…/');
