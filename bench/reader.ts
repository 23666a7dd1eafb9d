/** How well pages are read, on corpora that lie outside the repository: `GANTRY_BENCH_CORPORA` names their folder. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { convertPage } from '../packages/gantry/src/web/html/convert-page.ts';
import type { PageElement } from '../packages/gantry/src/web/html/page-tree.ts';
import { findElement, parsePage, textOf, visitElements } from '../packages/gantry/src/web/html/page-tree.ts';
import { scoreWords, toPlainText, withoutSpace } from './lib/page-scores.ts';

/** Lines about news pages (hand-made texts), snippets that must or must not appear, and documentation. */
export const benchReader = async (): Promise<string[]> => {
  const folder = process.env['GANTRY_BENCH_CORPORA'];
  if (folder === undefined) return ['Skipped: GANTRY_BENCH_CORPORA names no folder of corpora.'];
  return [
    ...benchNews(join(folder, 'article-extraction-benchmark')),
    ...benchSnippets(join(folder, 'trafilatura', 'tests')),
    ...benchDocumentation('/usr/share/doc'),
  ];
};

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const cpuMs = (): number => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;

/** scrapinghub/article-extraction-benchmark. */
const benchNews = (folder: string): string[] => {
  if (!existsSync(folder)) return [`Skipped news: there is no ${folder}.`];
  const truth = JSON.parse(readFileSync(join(folder, 'ground-truth.json'), 'utf8')) as Record<
    string,
    { articleBody: string; url: string }
  >;
  const pages = Object.entries(truth).map(([key, { articleBody, url }]) => {
    const html = gunzipSync(readFileSync(join(folder, 'html', `${key}.html.gz`))).toString();
    return { html, url, articleBody };
  });
  const startedMs = cpuMs();
  const texts = pages.map(({ html, url }) => convertPage(html, { url, mode: 'auto' }).markdown);
  const usedMs = cpuMs() - startedMs;
  const scores = pages.map(({ articleBody }, index) => scoreWords(articleBody, toPlainText(texts[index] ?? '')));
  const megabytes = pages.reduce((sum, { html }) => sum + html.length, 0) / 1e6;
  return [
    `news (${pages.length} pages): F1 ${mean(scores.map(({ f1 }) => f1)).toFixed(3)}, precision ${mean(scores.map(({ precision }) => precision)).toFixed(3)}, recall ${mean(scores.map(({ recall }) => recall)).toFixed(3)}`,
    `CPU: ${(usedMs / megabytes).toFixed(0)} ms per MB`,
  ];
};

/** The evaluation set of adbar/trafilatura. */
const benchSnippets = (folder: string): string[] => {
  if (!existsSync(folder)) return [`Skipped snippets: there is no ${folder}.`];
  const set = JSON.parse(readFileSync(join(folder, 'evaldata.json'), 'utf8')) as Record<
    string,
    { file: string; with?: string[]; without?: string[] }
  >;
  const counts = { kept: 0, must: 0, leaked: 0, mustNot: 0 };
  for (const [url, { file, with: must = [], without: mustNot = [] }] of Object.entries(set)) {
    const path = ['eval', 'cache'].map((name) => join(folder, name, file)).find((candidate) => existsSync(candidate));
    if (path === undefined) continue;
    const { markdown } = convertPage(readFileSync(path, 'utf8'), { url, mode: 'auto' });
    const text = withoutSpace(toPlainText(markdown));
    const has = (snippet: string): boolean => text.includes(withoutSpace(toPlainText(snippet)));
    counts.must += must.length;
    counts.kept += must.filter(has).length;
    counts.mustNot += mustNot.length;
    counts.leaked += mustNot.filter(has).length;
  }
  return [
    `snippets: ${percent(counts.kept / counts.must)} of what must appear kept, ${percent(counts.leaked / counts.mustNot)} of what must not leaked`,
  ];
};

/** Where each of Debian's documentation packages keeps its pages, and which element of a page is its content. */
const documentation = [
  {
    package: 'python3-doc',
    path: 'python3.11/html/library',
    isContent: ({ attributes }: PageElement) => attributes['role'] === 'main',
  },
  { package: 'git-doc', path: 'git/html', isContent: ({ name }: PageElement) => name === 'body' },
  {
    package: 'postgresql-doc',
    path: 'postgresql-doc-15/html',
    isContent: ({ attributes }: PageElement) => /^(?:sect1|refentry|chapter)$/.test(attributes['class'] ?? ''),
  },
];
const mostPages = 20;

const benchDocumentation = (root: string): string[] =>
  documentation.flatMap(({ package: name, path, isContent }) => {
    const folder = join(root, path);
    if (!existsSync(folder)) return [`Skipped documentation: the package ${name} is not installed.`];
    const files = readdirSync(folder)
      .filter((file) => file.endsWith('.html'))
      .toSorted();
    const step = Math.max(1, Math.floor(files.length / mostPages));
    const f1: number[] = [];
    const counts = { headings: 0, headingsKept: 0, blocks: 0, blocksExact: 0, tables: 0, tablesKept: 0 };
    for (const file of files.filter((_file, index) => index % step === 0)) {
      const html = readFileSync(join(folder, file), 'utf8');
      const content = findElement(parsePage(html).root, isContent);
      if (!content) continue;
      const { markdown } = convertPage(html, { url: `https://docs.example/${file}`, mode: 'auto' });
      f1.push(scoreWords(textOf(content), toPlainText(markdown)).f1);
      const plain = withoutSpace(toPlainText(markdown));
      const lines = withoutSpace(markdown);
      visitElements(content, (element) => {
        if (/^h[1-6]$/.test(element.name)) {
          counts.headings += 1;
          if (plain.includes(withoutSpace(toPlainText(textOf(element).replaceAll('¶', ''))))) counts.headingsKept += 1;
        } else if (element.name === 'pre') {
          counts.blocks += 1;
          if (lines.includes(withoutSpace(textOf(element)))) counts.blocksExact += 1;
        } else if (element.name === 'table') counts.tables += 1;
      });
      counts.tablesKept += markdown.match(/^ *\|(?: --- \|)+$/gm)?.length ?? 0;
    }
    return [
      `documentation, ${name} (${f1.length} pages): F1 ${mean(f1).toFixed(3)}, headings ${counts.headingsKept} of ${counts.headings}, code blocks ${counts.blocksExact} of ${counts.blocks}, tables ${counts.tablesKept} of ${counts.tables}`,
    ];
  });
