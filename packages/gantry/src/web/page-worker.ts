/** The worker that turns bodies into texts. It takes one {@link ConvertRequest} at a time and answers each with one message. */
import { parentPort } from 'node:worker_threads';
import { convertPage } from './html/convert-page.ts';
import { decodeBytes } from './html/decode-bytes.ts';
import { parseJson } from '../kernel/json.ts';
import type { ConvertRequest, ConvertedBody } from './page-converter.ts';

const convert = ({ bytes, kind, charset, url, mode }: ConvertRequest): ConvertedBody => {
  const text = decodeBytes(bytes, { charset, isHtml: kind === 'html' });
  if (mode === 'raw' || kind === 'text') return { kind: 'text', text };
  if (kind === 'html') return { kind: 'page', page: convertPage(text, { url, mode }) };
  const parsed = parseJson(text);
  return { kind: 'text', text: parsed.ok ? JSON.stringify(parsed.value, null, 2) : text };
};

parentPort?.on('message', (request: ConvertRequest) => {
  parentPort?.postMessage(convert(request), []);
});
