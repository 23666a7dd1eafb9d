import { describe, expect, it } from 'vitest';
import { foldText, toNameWords, toWords } from './tokens.ts';

describe('foldText', () => {
  it.each([
    ['Café Ünïted', 'cafe united'],
    ['ＡＢＣ１', 'abc1'],
    ['Straße', 'strasse'],
    ['ガ', 'ガ'],
    ['한국어', '한국어'],
  ])('folds %s to %s', (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });
});

describe('toWords', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['— … !', []],
    ['Send an e-mail, now!', ['send', 'an', 'e', 'mail', 'now']],
    ['page2 v1.5', ['page2', 'v1', '5']],
    ['北京天气', ['北京', '京天', '天气']],
    ['查 API', ['查', 'api']],
    ['用GPT写作', ['用', 'gpt', '写作']],
    ['날씨 예보', ['날씨', '예보']],
    ['हिन्दी', ['हिन्दी']],
  ])('parts %s into %j', (text, words) => {
    expect(toWords(text)).toEqual(words);
  });
});

describe('toNameWords', () => {
  it.each<[string, string[]]>([
    ['sendEmail', ['send', 'email']],
    ['HTTPServerError', ['http', 'server', 'error']],
    ['get_user-profile.v2', ['get', 'user', 'profile', 'v', '2']],
    ['ÉtatCivil', ['etat', 'civil']],
    ['ALLCAPS', ['allcaps']],
    ['base64Encode', ['base', '64', 'encode']],
  ])('parts %s into %j', (name, words) => {
    expect(toNameWords(name)).toEqual(words);
  });
});
