import { expect, it } from 'vitest';
import { fileNameOf } from './content-disposition.ts';

it.each([
  ['attachment; filename="report q3.pdf"', 'report q3.pdf'],
  ['attachment; filename=report.pdf; size=3', 'report.pdf'],
  ['attachment; filename="a.txt"; filename*=UTF-8\'\'%e2%82%ac.txt', '€.txt'],
  ["attachment; filename*=iso-8859-1'en'%A3.txt", '£.txt'],
  ['attachment; filename="say \\"hi\\".txt"', 'say "hi".txt'],
  ['attachment; filename="r\u00c3\u00a9sum\u00c3\u00a9.pdf"', 'résumé.pdf'],
  ['attachment; filename="r\u00e9sum\u00e9.pdf"', 'résumé.pdf'],
  ['attachment; filename*=UTF-8\'\'%zz; filename="kept.txt"', 'kept.txt'],
  ['attachment; filename=""', undefined],
  ['inline', undefined],
  [null, undefined],
])('%j names %j', (header, name) => {
  expect(fileNameOf(header)).toBe(name);
});
