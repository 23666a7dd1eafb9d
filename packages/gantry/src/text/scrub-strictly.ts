import { scrubText } from './scrub.ts';

/** What stands where {@link redactText} found a secret. */
export const redactedMark = '[redacted]';

/**
 * Masks what may be a secret in what a person or a model wrote, before another model reads it or it is kept. Stricter than `scrubText`,
 * which serves logs: also secrets in prose ("the password is …"), runs of digits as on cards, and long mixes of letters and digits, at
 * the price of masking some that are none. Linear in the length of the text.
 */
export const redactText = (text: string): string => {
  let redacted = scrubText(text, redactedMark).replaceAll(namedValue, (whole, before: string, value: string) =>
    value.startsWith(redactedMark) ? whole : `${before}${redactedMark}`,
  );
  for (const [shape, isSecret] of strictShapes)
    redacted = redacted.replaceAll(shape, (value) => (isSecret(value) ? redactedMark : value));
  return redacted;
};

// Every repetition is bounded or starts only where a word starts: no text makes a search go back over itself.
const secretName =
  'pass(?:word|wd|phrase|code)s?|pwd|secrets?|(?:api|access|private|secret|ssh)[ _-]?keys?|tokens?|credentials?|pins?|otp|cv[vc]|ssn';
/** A name, up to five more words ("of the wiki"), `=`, `:` or `is`, and the value. */
const namedValue = new RegExp(
  `((?<![\\p{L}\\p{N}])(?:${secretName})["'’]?(?:[ \\t]{1,3}[\\p{L}\\p{N}'’()-]{1,24}){0,5}?` +
    `(?:[ \\t]{0,3}[:=]|[ \\t]{1,3}(?:is|are|was)(?![\\p{L}\\p{N}]))[\\s:]{0,4})("[^"\\n]{1,512}"|'[^'\\n]{1,512}'|“[^”\\n]{1,512}”|[^\\s,;]{1,512})`,
  'giu',
);

const isMixed = (value: string): boolean => /[A-Za-z]/.test(value) && /\d/.test(value);
/** Base64 has all three kinds of characters; a path in small letters has not. */
const isMixedCase = (value: string): boolean => isMixed(value) && /[A-Z]/.test(value) && /[a-z]/.test(value);
const isCardLong = (value: string): boolean => {
  const digits = value.replaceAll(/\D/g, '').length;
  return digits >= 13 && digits <= 19;
};
const always = (): boolean => true;

/** Shapes, and what a match has to be beside. */
const strictShapes: readonly (readonly [shape: RegExp, isSecret: (value: string) => boolean])[] = [
  [/(?<=(?<![\p{L}\p{N}])(?:bearer|basic|token)[ \t]{1,4})[\w.~+/=-]{12,}/giu, always],
  [/(?<!\d|\d\.)(?:\d{13,19}|\d{4}(?:[ -]\d{3,6}){2,4})(?!\d)/g, isCardLong],
  [/(?<![\d-])\d{3}[ -]\d{2}[ -]\d{4}(?![\d-])/g, always],
  [/(?<![\w+/=-])[\w+/=-]{32,}/g, isMixedCase],
  [/(?<![\w+=-])[\w+=-]{32,}/g, isMixed],
];
