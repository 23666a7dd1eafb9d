/** How well pages are read, by us and by others, on corpora outside the repository: `GANTRY_BENCH_CORPORA` names their folder. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoredPage } from './reader/corpora.ts';
import { documentationPackages, newsPages, snippetPages } from './reader/corpora.ts';
import { benchHostilePages } from './reader/hostile.ts';
import type { Reader } from './reader/readers.ts';
import { readers } from './reader/readers.ts';
import type { Found, ReadPages } from './reader/scores.ts';
import { halfOf, scoreDocumentation, scoreNews, scoreSnippets } from './reader/scores.ts';

/** News, snippets and documentation for every reader; hostile pages for ours. */
export const benchReader = async (): Promise<string[]> => {
  const corpora = process.env['GANTRY_BENCH_CORPORA'];
  const lines =
    corpora === undefined
      ? ['Skipped all corpora: GANTRY_BENCH_CORPORA names no folder.']
      : await benchCorpora(corpora);
  return [...lines, '', ...(await benchHostilePages())];
};

const benchCorpora = async (corpora: string): Promise<string[]> => {
  const [news, snippets, documentation] = [newsPages(corpora), snippetPages(corpora), documentationPackages()];
  const lines: string[] = [];
  if (!news) lines.push('Skipped news: scrapinghub/article-extraction-benchmark is not there.');
  if (!snippets) lines.push('Skipped snippets: adbar/trafilatura is not there.');
  for (const { name, pages } of documentation)
    if (!pages) lines.push(`Skipped documentation: the package ${name} is not installed.`);
  for (const reader of readers) {
    lines.push('', `### ${reader.name}`);
    if (news) lines.push(...(await newsLines(reader, news)));
    if (snippets) lines.push(...(await snippetLines(reader, snippets)));
    for (const { name, pages } of documentation) {
      if (!pages) continue;
      const { f1, headings, codeBlocks, tables } = scoreDocumentation(await readAll(reader, pages));
      lines.push(
        `${name} (${pages.length} pages): F1 ${three(f1)}, headings ${of(headings)}, code blocks ${of(codeBlocks)}, tables ${of(tables)}`,
      );
    }
  }
  return lines;
};

const newsLines = async (reader: Reader, pages: Parameters<typeof scoreNews>[0]['pages']): Promise<string[]> => {
  const read = await readAll(reader, pages);
  const { f1, precision, recall } = scoreNews(read);
  const [first, second] = [scoreNews(halfOf(read, 0)), scoreNews(halfOf(read, 1))];
  return [
    `news (${pages.length} pages): F1 ${three(f1)}, precision ${three(precision)}, recall ${three(recall)}; halves: F1 ${three(first.f1)}, ${three(second.f1)}, recall ${three(first.recall)}, ${three(second.recall)}`,
    `CPU: ${read.cpuMsPerMb.toFixed(0)} ms per MB${read.failed === 0 ? '' : `; failed on ${read.failed} pages`}`,
  ];
};

const snippetLines = async (reader: Reader, pages: Parameters<typeof scoreSnippets>[0]['pages']): Promise<string[]> => {
  const read = await readAll(reader, pages);
  const { kept, leaked } = scoreSnippets(read);
  const [first, second] = [scoreSnippets(halfOf(read, 0)), scoreSnippets(halfOf(read, 1))];
  return [
    `snippets (${pages.length} pages): kept ${percent(kept)} of what must appear, leaked ${percent(leaked)} of what must not; halves: kept ${percent(first.kept)}, ${percent(second.kept)}, leaked ${percent(first.leaked)}, ${percent(second.leaked)}`,
    `CPU: ${read.cpuMsPerMb.toFixed(0)} ms per MB${read.failed === 0 ? '' : `; failed on ${read.failed} pages`}`,
  ];
};

interface MeasuredPages<Page> extends ReadPages<Page> {
  readonly cpuMsPerMb: number;
  /** Pages on which the reader threw; their text counts as empty. */
  readonly failed: number;
}

const readAll = async <Page extends StoredPage>(
  reader: Reader,
  pages: readonly Page[],
): Promise<MeasuredPages<Page>> => {
  const texts: string[] = [];
  let failed = 0;
  const before = process.cpuUsage();
  for (const { html, url } of pages) {
    try {
      texts.push(await reader.read(html, url));
    } catch {
      failed += 1;
      texts.push('');
    }
    // Pages that are held by weak references go only between two turns of the event loop.
    await nextTurn();
  }
  const { user, system } = process.cpuUsage(before);
  const megabytes = pages.reduce((sum, { html }) => sum + html.length, 0) / 1e6;
  return { pages, texts, failed, cpuMsPerMb: (user + system) / 1000 / megabytes };
};

const three = (value: number): string => value.toFixed(3);
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const of = ({ found, all }: Found): string => `${found} of ${all}`;
