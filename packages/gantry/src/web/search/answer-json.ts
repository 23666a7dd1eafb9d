import { GantryError } from '../../kernel/errors.ts';
import { isObject, parseJson } from '../../kernel/json.ts';
import { flattenText } from '../../text/flatten.ts';

/** An engine that answered, but not with results. `details.status` is set when it was an HTTP status. */
export const engineError = (engine: string, problem: string, status?: number): GantryError =>
  new GantryError('execution_failed', `${engine}: ${problem}.`, {
    details: { engine, ...(status === undefined ? {} : { status }) },
    retry: status === undefined || status === 429 || status >= 500 ? 'later' : 'never',
  });

/**
 * The body of a response as a JSON object.
 *
 * @throws {GantryError} when it is something else.
 */
export const answerJson = async (engine: string, response: Response): Promise<Readonly<Record<string, unknown>>> => {
  const parsed = parseJson(await response.text());
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  throw engineError(engine, `the answer is not the JSON that was asked for (HTTP ${response.status})`);
};

/** `HTTP 500 Internal Server Error`, fit to stand in a sentence. */
export const describeStatus = ({ status, statusText }: Response): string =>
  statusText === '' ? `HTTP ${status}` : `HTTP ${status} ${flattenText(statusText, { maxChars: 60 })}`;

/** The objects of a list, or none where there is no list. */
export const objectsOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** The text, or empty for anything else. */
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');
