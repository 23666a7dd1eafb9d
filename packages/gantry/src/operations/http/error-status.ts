import { toFailure } from '../../invoke/to-failure.ts';
import type { GantryErrorCode } from '../../kernel/errors.ts';
import { GantryError } from '../../kernel/errors.ts';
import { scrubText } from '../../text/scrub.ts';

/** The body of every answer that is no result. */
export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly isRetryable: boolean };
}

type ErrorStatus = 400 | 404 | 409 | 413 | 429 | 499 | 500 | 502 | 503 | 504;

/** HTTP status by error code; what is not listed is 500. */
const statusOf: Partial<Record<GantryErrorCode, ErrorStatus>> = {
  invalid_arguments: 400,
  tool_not_found: 404,
  server_unknown: 404,
  guide_unknown: 404,
  schedule_unknown: 404,
  question_unknown: 404,
  task_unknown: 404,
  token_unknown: 404,
  memory_unknown: 404,
  record_exists: 409,
  revision_conflict: 409,
  config_invalid: 409,
  model_missing: 409,
  model_failed: 502,
  limit_reached: 429,
  // Not in the RFCs, but what proxies log for a client that went away.
  cancelled: 499,
  server_unreachable: 502,
  auth_required: 502,
  stopped: 503,
  store_unavailable: 503,
  timeout: 504,
};

/** How anything thrown is answered; stacks and secrets stay here. */
export const toErrorAnswer = (thrown: unknown): { readonly status: ErrorStatus; readonly body: ErrorBody } => {
  if (!GantryError.is(thrown)) {
    const { code, message, retry } = toFailure(thrown);
    return { status: 500, body: { error: { code, message, isRetryable: retry !== 'never' } } };
  }
  const { code, retry } = thrown;
  const body = { error: { code, message: scrubText(thrown.message), isRetryable: retry !== 'never' } };
  return { status: statusOf[code] ?? 500, body };
};
