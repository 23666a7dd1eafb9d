import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { convertPage } from '../../../packages/gantry/src/web/html/convert-page.ts';
import { differences, unless, wrongContents } from '../lib/compare.ts';
import { asText, textsOf } from '../lib/read-cases.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

/** A page's address and its HTML → facts about its Markdown. */
export const htmlToMarkdown: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['url', 'html', 'substitute']);
  refuseUnread(expect, 'the expectation', [
    'contains',
    'notContains',
    'linkDOneOf',
    'fenceLongerThanInner',
    'inlineBacktickSafe',
    'tableRows',
    'columnsPerRow',
    'noLineBreakInsideRow',
    'mustBeOneOf',
  ]);
  const substitute = isObject(input['substitute']) ? input['substitute'] : {};
  let html = asText(input['html']);
  for (const [name, text] of Object.entries(substitute)) html = html.replaceAll(name, () => asText(text));
  const { markdown } = convertPage(html, { url: asText(input['url']), mode: 'auto' });
  const rows = markdown.split('\n').filter((line) => line.startsWith('| ') && !/^\|(?: -+ \|)+$/.test(line));
  return [
    ...wrongContents('the Markdown', markdown, expect),
    ...(expect['linkDOneOf'] === undefined
      ? []
      : unless(
          textsOf(expect['linkDOneOf']).some((target) => markdown.includes(`[D](${target})`)),
          'the Markdown: expected the link within the page',
          markdown,
        )),
    ...(expect['fenceLongerThanInner'] === true
      ? unless(/^(`{4,})\n``` inner\n\1$/m.test(markdown), 'expected a fence longer than the one inside', markdown)
      : []),
    ...wrongContents('the Markdown', markdown, { contains: expect['inlineBacktickSafe'] }),
    ...(expect['tableRows'] === undefined ? [] : differences('rows', rows.length, expect['tableRows'])),
    ...(expect['columnsPerRow'] === undefined
      ? []
      : rows.flatMap((row) =>
          differences(`columns of ${row}`, row.split(/(?<!\\)\|/).length - 2, expect['columnsPerRow']),
        )),
    ...(expect['noLineBreakInsideRow'] === true
      ? unless(
          rows.every((row) => row.endsWith(' |')),
          'expected rows of one line',
          markdown,
        )
      : []),
    ...judgeConsent(expect['mustBeOneOf'], markdown, Object.values(substitute).map(asText)),
  ];
};

const judgeConsent = (expected: unknown, markdown: string, consent: readonly string[]): string[] => {
  if (expected === undefined) return [];
  const options = textsOf(expected);
  if (!options.includes('no consent text')) throw new NotCovered(`this runner cannot read ${options.join(', ')}`);
  const start = (consent[0] ?? '').slice(0, 40);
  const at = start === '' ? -1 : markdown.indexOf(start);
  const afterArticle = options.some((option) => option.includes('after the article')) && at > markdown.indexOf('# ');
  return unless(at === -1 || afterArticle, 'expected the consent text nowhere, or after the article', markdown);
};
