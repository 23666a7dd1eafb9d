import { abortReason } from '../kernel/abort.ts';
import { GantryError, messageOf } from '../kernel/errors.ts';

/** Words whatever a request or its body threw as a GantryError that names the host and the stage. */
export const toFetchError = (thrown: unknown, host: string, signal: AbortSignal): GantryError => {
  if (GantryError.is(thrown)) return thrown;
  if (signal.aborted) return abortReason(signal);
  const code = codeOf(thrown);
  const known = problems[code];
  if (known?.timeout) {
    const details = { host, stage: known.stage };
    return new GantryError('timeout', `"${host}" ${known.problem}.`, { details, cause: thrown });
  }
  const problem = known?.problem ?? (isUnpacking(code) ? `sent a body that cannot be unpacked (${code})` : undefined);
  return new GantryError('execution_failed', `"${host}" ${problem ?? `could not be fetched: ${messageOf(thrown)}`}.`, {
    details: { host, ...(known ? { stage: known.stage } : {}), ...(code === '' ? {} : { cause: code }) },
    retry: known || isUnpacking(code) ? 'never' : 'later',
    cause: thrown,
  });
};

/** True for a connection that was gone before an answer came, as a kept one may be when it is used again. */
export const isLostConnection = (thrown: unknown): boolean =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(codeOf(thrown));

const codeOf = (thrown: unknown): string => {
  const code = (thrown as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
};

const isUnpacking = (code: string): boolean =>
  code.startsWith('Z_') || code.startsWith('ERR_BROTLI') || code.startsWith('ERR__ERROR');

const problems: Readonly<Record<string, { stage: string; problem: string; timeout?: true }>> = {
  UND_ERR_HEADERS_TIMEOUT: { stage: 'headers', problem: 'did not answer in time', timeout: true },
  UND_ERR_BODY_TIMEOUT: { stage: 'body', problem: 'stopped sending in the middle of its answer', timeout: true },
  UND_ERR_HEADERS_OVERFLOW: { stage: 'headers', problem: 'sent more headers than are accepted' },
};
