import type { LanguageModelMiddleware } from 'ai';
import { APICallError } from 'ai';
import { GantryError } from '../../kernel/errors.ts';
import { retryAfterMs } from '../models/retry-after.ts';
import type { TierModel } from '../models/tier-models.ts';

/** The SDK waits as long as a provider asks for, up to that; told to wait longer it would ask again too early. */
const longestWaitMs = 60_000;

/**
 * Watches the attempts of one request to a model: tells when one begins and when one was refused, so that nobody counts the wait between them
 * as silence of the model; gives up where the provider asks for a longer wait than a minute; and says so when a web page comes for an answer.
 */
export const watchedAttempts = (
  { settings: { modelId, provider, endpoint } }: Pick<TierModel, 'settings'>,
  { onAttempt, onRefused }: { readonly onAttempt: () => void; readonly onRefused: () => void },
): LanguageModelMiddleware => ({
  wrapStream: async ({ doStream }) => {
    onAttempt();
    try {
      const result = await doStream();
      const type = result.response?.headers?.['content-type'] ?? '';
      if (!/^\s*(?:text\/html|application\/xhtml)/i.test(type)) return result;
      await result.stream.cancel();
      throw new GantryError(
        'model_failed',
        `The model "${modelId}" (${provider}) was not reached: ${endpoint === undefined ? 'its address' : endpoint} answered with a web page, such as one to sign in, instead of an answer. Correct the tier's endpoint; it often ends in /v1.`,
        { details: { provider, model: modelId } },
      );
    } catch (error) {
      onRefused();
      throw APICallError.isInstance(error) && (retryAfterMs(error.responseHeaders) ?? 0) >= longestWaitMs
        ? withoutRetry(error)
        : error;
    }
  },
});

const withoutRetry = (error: APICallError): APICallError => {
  const { message, url, requestBodyValues, statusCode, responseHeaders, responseBody, cause } = error;
  return new APICallError({
    message,
    url,
    requestBodyValues,
    ...(statusCode !== undefined && { statusCode }),
    ...(responseHeaders !== undefined && { responseHeaders }),
    ...(responseBody !== undefined && { responseBody }),
    cause,
    isRetryable: false,
  });
};
