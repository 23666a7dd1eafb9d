import { describe, expect, it } from 'vitest';
import { toStem } from './stem.ts';

describe('toStem', () => {
  // Rows of Porter's paper, each step at least once.
  it.each([
    ['caresses', 'caress'],
    ['ponies', 'poni'],
    ['cats', 'cat'],
    ['feed', 'feed'],
    ['agreed', 'agre'],
    ['plastered', 'plaster'],
    ['bled', 'bled'],
    ['motoring', 'motor'],
    ['sing', 'sing'],
    ['conflated', 'conflat'],
    ['troubled', 'troubl'],
    ['sized', 'size'],
    ['hopping', 'hop'],
    ['falling', 'fall'],
    ['filing', 'file'],
    ['happy', 'happi'],
    ['sky', 'sky'],
    ['relational', 'relat'],
    ['digitizer', 'digit'],
    ['operator', 'oper'],
    ['decisiveness', 'decis'],
    ['sensitivity', 'sensit'],
    ['triplicate', 'triplic'],
    ['electrical', 'electr'],
    ['revival', 'reviv'],
    ['replacement', 'replac'],
    ['adoption', 'adopt'],
    ['probate', 'probat'],
    ['rate', 'rate'],
    ['cease', 'ceas'],
    ['controll', 'control'],
    ['roll', 'roll'],
  ])('strips %s to %s', (word, stem) => {
    expect(toStem(word)).toBe(stem);
  });

  it.each([
    ['calculates', 'calculation', 'calculator'],
    ['summary', 'summaries', 'summarize'],
    ['discover', 'discovery', 'discovered'],
    ['погода', 'погоды', 'погоде'],
    ['прогноз', 'прогноза', 'прогнозом'],
  ])('gives %s, %s and %s one stem', (...words) => {
    expect(new Set(words.map(toStem)).size).toBe(1);
  });

  it.each(['天气', 'yes2', 'v1', 'io', '42'])('leaves %s as it is', (word) => {
    expect(toStem(word)).toBe(word);
  });
});
