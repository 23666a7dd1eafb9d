import { describe, expect, it } from 'vitest';
import { rankDocuments } from './bm25.ts';

const rank = (texts: string[], query: string) => rankDocuments(texts, (text) => text, query);
const order = (texts: string[], query: string) => rank(texts, query).map((entry) => entry.item);

describe('rankDocuments', () => {
  it('puts a text with the phrase above one with the scattered words', () => {
    expect(
      order(['meeting notes about a long reschedule', 'notes about a long reschedule meeting'], 'reschedule meeting'),
    ).toEqual(['notes about a long reschedule meeting', 'meeting notes about a long reschedule']);
  });

  it('adds twice the score that the pair would have as a single word', () => {
    const [single] = rank(['alphabeta', 'gamma'], 'alphabeta');
    const [pair] = rank(['alpha beta', 'gamma delta'], 'alpha beta');
    // alpha and beta count once each, the pair counts twice: four times one word of the same rarity.
    expect(pair?.score).toBeCloseTo(4 * (single?.score ?? 0));
  });

  it('scores as Okapi BM25 with k1 1.5 and b 0.75', () => {
    const score = (count: number, length: number) =>
      expect.closeTo((Math.log(1 + 1.5 / 2.5) * count * 2.5) / (count + 1.5 * (0.25 + (0.75 * length) / (7 / 3))));
    expect(rank(['weather weather map', 'weather', 'traffic jam today'], 'weather')).toEqual([
      { item: 'weather', score: score(1, 1) },
      { item: 'weather weather map', score: score(2, 3) },
    ]);
  });

  it.each([
    ['an empty query', ['alpha'], ''],
    ['a query of short words', ['is it on'], 'is it on'],
    ['no texts', [], 'alpha'],
    ['no text with a word of the query', ['beta'], 'alpha'],
  ])('gives nothing for %s', (_, texts, query) => {
    expect(rank(texts, query)).toEqual([]);
  });

  it('keeps the given order of equal scores', () => {
    expect(order(['alpha one', 'alpha two', 'alpha six'], 'alpha')).toEqual(['alpha one', 'alpha two', 'alpha six']);
  });

  it('counts a repeated word of the query once', () => {
    expect(rank(['alpha', 'beta'], 'alpha alpha')[0]?.score).toBe(rank(['alpha', 'beta'], 'alpha')[0]?.score);
  });

  it.each([
    ['accents and case', 'Prévisions MÉTÉO', 'meteo'],
    ['Cyrillic', 'Прогноз погоды', 'погоды'],
    ['Chinese', '查询北京天气预报', '天气'],
    ['Japanese', '東京の天気予報', '天気予報'],
  ])('finds words across %s', (_, text, query) => {
    expect(order(['unrelated text', text], query)).toEqual([text]);
  });
});
