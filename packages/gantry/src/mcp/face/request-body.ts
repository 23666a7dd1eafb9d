import { messageOf } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import { readBody as readBytes } from '../../net/read-body.ts';
import { depthProblem, numberProblem } from '../wire/json-limits.ts';
import { jsonRpcError } from './json-rpc-error.ts';
import { mediaRefusal } from './media-refusal.ts';

/** A request's JSON, or the refusal of what is not JSON, too large or too deep. Requests without a body (GET, DELETE) have none. */
export type RequestBody =
  | { readonly ok: true; readonly json: unknown; /** As it was written. */ readonly text?: string | undefined }
  | { readonly ok: false; readonly refusal: Response };

/** Reads the body of a request once. `maxBytes` bounds what is read. */
export const readJsonBody = async (request: Request, maxBytes: number): Promise<RequestBody> => {
  if (request.method !== 'POST') return { ok: true, json: undefined };
  const media = mediaRefusal(request.headers);
  if (media !== undefined) return refused(415, -32_000, `Unsupported media type: ${media}`);
  let body: ReadBody;
  try {
    body = await readBody(request, maxBytes);
  } catch (error) {
    return refused(400, -32_700, `The request body broke off: ${messageOf(error)}`);
  }
  if (body.tooLarge) return refused(413, -32_000, `The request body is larger than ${maxBytes} bytes.`);
  const deep = depthProblem(body.text);
  if (deep !== undefined) return refused(400, -32_600, deep);
  const parsed = parseJson(body.text);
  if (!parsed.ok) return refused(400, -32_700, `Parse error: ${parsed.reason}`);
  const endless = numberProblem(body.text, parsed.value);
  if (endless !== undefined) return refused(400, -32_600, endless);
  return { ok: true, json: parsed.value, text: body.text };
};

type ReadBody = { readonly tooLarge: true } | { readonly tooLarge: false; readonly text: string };

/** A body that says its size is read in one go, which is much cheaper than as a stream; the listener holds it to that size. */
const readBody = async (request: Request, maxBytes: number): Promise<ReadBody> => {
  const size = Number(request.headers.get('content-length') ?? Number.NaN);
  if (size > maxBytes) return { tooLarge: true };
  if (size <= maxBytes) return { tooLarge: false, text: await request.text() };
  const { bytes, truncated } = await readBytes(request, maxBytes);
  return truncated ? { tooLarge: true } : { tooLarge: false, text: new TextDecoder().decode(bytes) };
};

const refused = (status: number, code: number, message: string): RequestBody => ({
  ok: false,
  refusal: jsonRpcError(status, code, message),
});
