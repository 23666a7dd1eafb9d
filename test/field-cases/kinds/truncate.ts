import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { truncateText } from '../../../packages/gantry/src/text/truncate.ts';
import { cutText } from '../../../packages/gantry/src/text/cut.ts';
import { unless } from '../lib/compare.ts';
import { listOf, rowsOf, textOf } from '../lib/read-cases.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

/** Text and limits → the cut text. */
export const truncate: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  refuseUnread(input, 'the input', ['rows', 'text', 'limits', 'limit']);
  refuseUnread(expect, 'the expectation', ['noLoneSurrogates', 'utf8RoundTrip', 'maxChars', 'withinLimit']);
  return rowsOf(fieldCase).flatMap((row, index) => {
    if (!isObject(row) || row['text'] === undefined) throw new NotCovered(`row ${index} has no text`);
    const text = textOf(row['text']);
    return listOf(row['limits'] ?? row['limit']).flatMap((given) => {
      const limit = Number(given);
      const subject = `row ${index}, limit ${limit}`;
      const kept = cutText(text, limit);
      return [truncateText(text, limit), kept].flatMap((cut) => [
        ...(expect['noLoneSurrogates'] ? unless(cut.isWellFormed(), `${subject}: expected whole characters`, cut) : []),
        ...(expect['utf8RoundTrip']
          ? unless(Buffer.from(cut).toString() === cut, `${subject}: expected a text that survives UTF-8`, cut)
          : []),
        ...unless(text.startsWith(kept) && kept.length <= limit, `${subject}: expected the start of the text`, kept),
      ]);
    });
  });
};
