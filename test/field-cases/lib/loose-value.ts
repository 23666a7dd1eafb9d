import { NotCovered } from './verdict.ts';

/** Reads a value as people write it in a sentence: JSON, or JSON without quotes around keys and words (`{path:/a}`, `[https://a.example]`). */
export const parseLoose = (text: string): unknown => {
  let at = 0;
  const fail = (): never => {
    throw new NotCovered(`"${text}" cannot be read as a value`);
  };
  const skip = (): void => {
    while (/\s/.test(text[at] ?? '')) at += 1;
  };
  const word = (stop: RegExp): string => {
    const start = at;
    while (at < text.length && !stop.test(text[at] as string)) at += 1;
    return text.slice(start, at).trim();
  };
  const quoted = (): string => {
    const [whole] = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(at)) ?? fail();
    at += whole.length;
    return JSON.parse(whole) as string;
  };
  const value = (): unknown => {
    skip();
    if (text[at] === '{') return object();
    if (text[at] === '[') return list();
    if (text[at] === '"') return quoted();
    return toScalar(word(/[,\]}]/));
  };
  const members = (close: string, member: () => void): void => {
    at += 1;
    for (skip(); text[at] !== close; skip()) {
      member();
      skip();
      if (text[at] === ',') at += 1;
      else if (text[at] !== close) fail();
    }
    at += 1;
  };
  const object = (): Record<string, unknown> => {
    const result: Record<string, unknown> = {};
    members('}', () => {
      const key = text[at] === '"' ? quoted() : word(/:/);
      skip();
      if (text[at] !== ':') fail();
      at += 1;
      result[key] = value();
    });
    return result;
  };
  const list = (): unknown[] => {
    const result: unknown[] = [];
    members(']', () => result.push(value()));
    return result;
  };
  const result = value();
  skip();
  return at === text.length ? result : fail();
};

const toScalar = (word: string): unknown => {
  if (/^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(word)) return JSON.parse(word) as unknown;
  return word.replaceAll(/^'|'$/g, '');
};
