/**
 * The stem that forms of one word share: Porter's algorithm (M. F. Porter, "An algorithm for suffix stripping", 1980) for
 * words of ASCII letters, a light stripping of case and number endings for Cyrillic ones; all other words as they are.
 * Expects a folded word.
 */
export const toStem = (word: string): string => {
  if (asciiWord.test(word)) return word.length > 2 ? porter(word) : word;
  return cyrillicWord.test(word) ? word.replace(cyrillicEnding, '$1') : word;
};

const asciiWord = /^[a-z]+$/;
const cyrillicWord = /^\p{Script=Cyrillic}{5,}$/u;
const cyrillicEnding =
  /^(.{3,}?)(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|ией|иям|иях|ует|ить|ать|ять|ется|ая|яя|ое|ее|ые|ие|ый|ий|ой|ей|ов|ев|ам|ям|ах|ях|ом|ем|ую|юю|ть|[аеиоуыьэюя])$/u;

// A run of consonants and a run of vowels; y is a vowel after a consonant.
const consonants = '[^aeiou][^aeiouy]*';
const vowels = '[aeiouy][aeiou]*';
const measureAboveZero = new RegExp(`^(?:${consonants})?${vowels}${consonants}`);
const measureOne = new RegExp(`^(?:${consonants})?${vowels}${consonants}(?:${vowels})?$`);
const measureAboveOne = new RegExp(`^(?:${consonants})?${vowels}${consonants}${vowels}${consonants}`);
const hasVowel = new RegExp(`^(?:${consonants})?[aeiouy]`);
const shortEnd = new RegExp(`^${consonants}[aeiouy][^aeiouwxy]$`);

const longForms: Readonly<Record<string, string>> = {
  ational: 'ate',
  tional: 'tion',
  enci: 'ence',
  anci: 'ance',
  izer: 'ize',
  bli: 'ble',
  alli: 'al',
  entli: 'ent',
  eli: 'e',
  ousli: 'ous',
  ization: 'ize',
  ation: 'ate',
  ator: 'ate',
  alism: 'al',
  iveness: 'ive',
  fulness: 'ful',
  ousness: 'ous',
  aliti: 'al',
  iviti: 'ive',
  biliti: 'ble',
  logi: 'log',
};
const longEnding =
  /^(.+?)(ational|tional|enci|anci|izer|bli|alli|entli|eli|ousli|ization|ation|ator|alism|iveness|fulness|ousness|aliti|iviti|biliti|logi)$/;
const middleForms: Readonly<Record<string, string>> = { icate: 'ic', ative: '', alize: 'al', iciti: 'ic', ical: 'ic' };
const middleEnding = /^(.+?)(icate|ative|alize|iciti|ical|ful|ness)$/;
const lastEnding = /^(.+?)(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|(?<=[st])ion|ou|ism|ate|iti|ous|ive|ize)$/;

const porter = (word: string): string => {
  // A leading y is a consonant; upper case keeps it out of the vowels.
  let w = word.startsWith('y') ? `Y${word.slice(1)}` : word;

  if (w.endsWith('sses') || w.endsWith('ies')) w = w.slice(0, -2);
  else if (w.endsWith('s') && !w.endsWith('ss')) w = w.slice(0, -1);

  if (w.endsWith('eed')) {
    if (measureAboveZero.test(w.slice(0, -3))) w = w.slice(0, -1);
  } else {
    const base = w.endsWith('ed') ? w.slice(0, -2) : w.endsWith('ing') ? w.slice(0, -3) : undefined;
    if (base !== undefined && hasVowel.test(base)) {
      if (/(?:at|bl|iz)$/.test(base)) w = `${base}e`;
      else if (/([^aeiouylsz])\1$/.test(base)) w = base.slice(0, -1);
      else w = shortEnd.test(base) ? `${base}e` : base;
    }
  }

  if (w.endsWith('y') && hasVowel.test(w.slice(0, -1))) w = `${w.slice(0, -1)}i`;
  w = replaceEnding(w, longEnding, longForms, measureAboveZero);
  w = replaceEnding(w, middleEnding, middleForms, measureAboveZero);
  // Beyond Porter, who leaves these apart: discovery and discover, summary and summarize, multiply and multiplication.
  if (w.length > 6 && w.endsWith('i') && !w.endsWith('iti')) w = w.slice(0, -1);
  w = replaceEnding(w, lastEnding, {}, measureAboveOne);

  if (w.endsWith('e')) {
    const base = w.slice(0, -1);
    if (measureAboveOne.test(base) || (measureOne.test(base) && !shortEnd.test(base))) w = base;
  }
  if (w.endsWith('ll') && measureAboveOne.test(w)) w = w.slice(0, -1);
  return w.startsWith('Y') ? `y${w.slice(1)}` : w;
};

const replaceEnding = (
  word: string,
  ending: RegExp,
  forms: Readonly<Record<string, string>>,
  condition: RegExp,
): string => {
  const match = ending.exec(word);
  if (match === null) return word;
  const [, base, suffix] = match as unknown as [string, string, string];
  return condition.test(base) ? `${base}${forms[suffix] ?? ''}` : word;
};
