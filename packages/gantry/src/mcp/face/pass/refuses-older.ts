import { isObject, parseJson } from '../../../kernel/json.ts';
import { eventTexts, isEventStream } from '../../wire/sessions/event-texts.ts';

// The revisions that begin with `initialize`.
const olderRevisions: ReadonlySet<unknown> = new Set(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']);
// MCP 2026-07-28, "Versioning": the revision is not supported, with a list of those that are; or the method is not known any more.
const unsupportedVersion = -32_022;
const unknownMethod = -32_601;

/**
 * Whether the answer to an `initialize` says that the server speaks no revision that begins with one. Any other error says something of
 * this request, or of this moment; so does a refusal of a revision that nobody speaks.
 */
export const refusesOlder = async (
  initialize: Readonly<Record<string, unknown>>,
  answer: string,
  headers: Headers,
): Promise<boolean> => {
  const { params } = initialize;
  if (!isObject(params) || !olderRevisions.has(params['protocolVersion'])) return false;
  const error = errorIn(isEventStream(headers) ? await lastData(answer) : answer);
  if (error?.['code'] === unknownMethod) return true;
  if (error?.['code'] !== unsupportedVersion) return false;
  const supported = isObject(error['data']) ? error['data']['supported'] : undefined;
  return !Array.isArray(supported) || !supported.some((revision) => olderRevisions.has(revision));
};

const errorIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  const parsed = parseJson(text);
  const error = parsed.ok && isObject(parsed.value) ? parsed.value['error'] : undefined;
  return isObject(error) ? error : undefined;
};

const lastData = async (answer: string): Promise<string> => {
  let last = '';
  for await (const { data } of eventTexts(new Blob([answer]).stream())) if (data !== '') last = data;
  return last;
};
