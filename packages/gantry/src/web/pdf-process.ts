/** A process that reads one PDF from standard input and writes its text to standard output as one {@link PdfText} in JSON. */
import { buffer } from 'node:stream/consumers';
import { getDocumentProxy } from 'unpdf';
import { messageOf } from '../kernel/errors.ts';
import type { PdfReport } from './read-pdf.ts';

const maxPages = 500;
const maxChars = 8_000_000;

const readDocument = async (bytes: Uint8Array): Promise<PdfReport> => {
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  const { info } = await document.getMetadata();
  const title = (info as { Title?: unknown }).Title;
  const pages: string[] = [];
  let chars = 0;
  for (let number = 1; number <= Math.min(document.numPages, maxPages) && chars < maxChars; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    let text = '';
    for (const item of items) if ('str' in item) text += item.hasEOL ? `${item.str}\n` : item.str;
    page.cleanup();
    pages.push(text.trim());
    chars += text.length;
  }
  return { ok: true, text: { title: typeof title === 'string' ? title : '', pages, totalPages: document.numPages } };
};

let report: PdfReport;
try {
  report = await readDocument(new Uint8Array(await buffer(process.stdin)));
} catch (error) {
  report = { ok: false, problem: messageOf(error) };
}
process.stdout.write(JSON.stringify(report), () => process.exit(0));
