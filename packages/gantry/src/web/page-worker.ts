/** The worker that turns bodies into texts. It takes one {@link ConvertRequest} at a time and answers each with one message. */
import { parentPort } from 'node:worker_threads';
import { convertPage } from './html/convert-page.ts';
import { decodeBytes } from './html/decode-bytes.ts';
import { jsonProblem } from '../kernel/json-problem.ts';
import { parseJson } from '../kernel/json.ts';
import type { ConvertRequest, ConvertedBody } from './page-converter.ts';

const convert = ({ bytes, kind, charset, url, mode }: ConvertRequest): ConvertedBody => {
  const text = decodeBytes(bytes, { charset, isHtml: kind === 'html' });
  if (mode === 'raw' || kind === 'text') return { kind: 'text', text };
  if (kind === 'html') return { kind: 'page', page: convertPage(text, { url, mode }) };
  const parsed = parseJson(text);
  // What nests very deep is no easier to read for being indented, and would take seconds.
  const isReadable = parsed.ok && jsonProblem(parsed.value) === undefined;
  return { kind: 'text', text: isReadable ? JSON.stringify(parsed.value, null, 2) : text };
};

parentPort?.on('message', (request: ConvertRequest) => {
  parentPort?.postMessage(convert(request), []);
});
