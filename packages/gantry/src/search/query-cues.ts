/** Words that a query implies by its form: a link asks for something that takes a link, "when" for a date. */
export const toCues = (query: string): string[] => {
  const begin = query.slice(0, mostChars);
  return cues.flatMap(([form, words]) => (form.test(begin) ? words : []));
};

// A request is understood from its begin, and a pasted page is no form of one.
const mostChars = 2_000;

const cues: readonly (readonly [form: RegExp, words: readonly string[]])[] = [
  [/https?:\/\/|\bwww\./i, ['url', 'link', 'website']],
  [/[^\s@]@[^\s@]+\.\w/, ['email']],
  [/\bwhen\b/i, ['date', 'time']],
  [/\bwhere\b/i, ['location']],
  [/\bwho\b/i, ['person', 'name']],
  [/\bhow much\b|[$€£¥]/i, ['price', 'cost', 'amount']],
  [/\bhow many\b/i, ['count', 'number']],
  [/\bhow far\b/i, ['distance']],
  [/\bhow long\b/i, ['duration', 'time']],
  [/\b(?:to|yester)day\b|\btomorrow\b|\d{4}-\d\d|\d\/\d{1,4}\/\d/i, ['date']],
  [
    /\b(?:january|february|march|april|june|july|august|september|october|november|december) \d|\d (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i,
    ['date'],
  ],
  [/\bfrom\b.*\bto\b/i, ['start', 'end']],
  [/\b(?:1[5-9]|20)\d\d\b/, ['year']],
  [/\b(?:in|near|at) \p{Lu}\p{Ll}+/u, ['location', 'city']],
  [/\[[^\][,]*,[^\][]*\]/, ['list', 'array']],
];
