import { describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { createPdfReader, pdfMarkdown } from './read-pdf.ts';

/** A PDF with one line of text on each page. */
const pdfOf = (...lines: string[]): Uint8Array => {
  const pages = lines.map((_line, index) => 4 + index * 2);
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${pages.map((number) => `${number} 0 R`).join(' ')}]/Count ${pages.length}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...lines.flatMap((line, index) => {
      const content = `BT /F1 12 Tf 72 720 Td (${line}) Tj ET`;
      return [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${5 + index * 2} 0 R/Resources<</Font<</F1 3 0 R>>>>>>`,
        `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  return Buffer.from(
    `${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF`,
  );
};

describe('createPdfReader', () => {
  const readPdf = createPdfReader({ clock: systemClock });

  it('reads the text of every page', async () => {
    expect(await readPdf(pdfOf('Hello there', 'Second page'))).toEqual({
      title: '',
      pages: ['Hello there', 'Second page'],
      totalPages: 2,
    });
  });

  it.each([
    ['random bytes', Buffer.from('%PDF-1.4 nothing of the kind')],
    ['half a document', pdfOf('Hello there').subarray(0, 120)],
  ])('says that %s cannot be read', async (_what, bytes) => {
    await expect(readPdf(bytes)).rejects.toMatchObject({
      code: 'execution_failed',
      message: expect.stringContaining('PDF cannot be read') as string,
    });
  });

  it('ends a process that takes too long, or that nobody waits for any more', async () => {
    const clock = fakeClock();
    const late = createPdfReader({ clock, timeoutMs: 10 })(pdfOf('x'));
    await clock.advance(10);
    await expect(late).rejects.toMatchObject({ code: 'timeout' });
    await expect(readPdf(pdfOf('x'), { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('pdfMarkdown', () => {
  it('gives pages a heading each, one page none, and says what was not read', () => {
    expect(pdfMarkdown({ title: '', pages: ['a', 'b'], totalPages: 2 })).toBe('## Page 1\n\na\n\n## Page 2\n\nb');
    expect(pdfMarkdown({ title: '', pages: ['a'], totalPages: 1 })).toBe('a');
    expect(pdfMarkdown({ title: '', pages: ['a'], totalPages: 9 })).toContain('Pages 1 to 1 of 9');
  });
});
