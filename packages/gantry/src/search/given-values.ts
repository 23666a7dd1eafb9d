/** How many values of each kind a request holds: what it could fill parameters with. */
export interface GivenValues {
  readonly numbers: number;
  /** Dates, times and words such as "tomorrow". */
  readonly dates: number;
  /** Names and quoted texts. */
  readonly texts: number;
}

const date =
  /\d{4}-\d\d(?:-\d\d)?|\d+\/\d+\/\d+|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b(?:\s+\d+(?:st|nd|rd|th)?)?(?:,?\s+\d{4})?|\b(?:1[5-9]|20)\d\d\b|\b(?:to|yester)day\b|\bto(?:morrow|night)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b\d{1,2}(?::\d\d)?\s*[ap]m\b|\b\d{1,2}:\d\d\b|\b(?:next|last|this) (?:day|week|month|year)\b/gi;
const list = /\[[^\]]*\]/g;
const digits = /(?<![\p{L}\d])[-+]?\d+(?:[.,]\d+)*/gu;
const numberWord = /\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million)\b/gi;
// The first word of a sentence has a capital anyway.
const name = /(?<=[a-z,;'")] )\p{Lu}[\p{L}\d.-]*(?: \p{Lu}[\p{L}\d.-]*)*/gu;
const quoted = /(?<!\p{L})(["'“‘])[^"'“”‘’]{2,}["'”’](?!\p{L})/gu;
const longest = 4_000;

/** Counts the values in a request; what is part of a date is no number, nor is what stands in a list or in quotes. */
export const toGivenValues = (request: string): GivenValues => {
  const text = request.slice(0, longest);
  const undated = text.replaceAll(date, ' ');
  const unlisted = undated.replaceAll(list, ' ');
  const plain = unlisted.replaceAll(quoted, ' ');
  return {
    numbers: count(plain, digits) + count(plain, numberWord),
    dates: count(text, date),
    texts: count(plain, name) + count(unlisted, quoted),
  };
};

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
