import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { listenOnLoopback } from '../../fixtures/listen-on-loopback.ts';
import { unless, unmentioned } from '../lib/compare.ts';
import { asText } from '../lib/read-cases.ts';
import { callAsModel } from '../lib/local-gantry.ts';
import { startWebGantry } from '../lib/web-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { refuseUnread } from '../lib/verdict.ts';

/** Room for the lines that stand before the text. */
const headChars = 500;

/** A large body → sections, each with a notice before it. */
export const fetchBig: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['bodyChars', 'contentType', 'maxModelChars']);
  refuseUnread(expect, 'the expectation', ['modelSees', 'nextPageWorks', 'memoryMaxMb']);
  const sees = isObject(expect['modelSees']) ? expect['modelSees'] : {};
  refuseUnread(sees, 'modelSees', ['maxChars', 'startsWithNotice', 'noticeMentions']);
  const body = numbered(Number(input['bodyChars']));
  await using server = await listenOnLoopback((_request, response) => {
    response.writeHead(200, { 'content-type': asText(input['contentType']) }).end(body);
  });
  await using local = await startWebGantry();
  const maxLength = Number(input['maxModelChars']) - headChars;
  const read = async (startIndex: number): Promise<string> => {
    const call = { name: 'fetch_url', arguments: { url: server.url, max_length: maxLength, start_index: startIndex } };
    return (await callAsModel(local.gantry, call, [])).text;
  };
  const before = process.memoryUsage.rss();
  const first = await read(0);
  const grownMb = (process.memoryUsage.rss() - before) / 1024 / 1024;
  const [head = ''] = first.split('\n\n');
  return [
    ...unless(
      first.length <= Number(sees['maxChars'] ?? Infinity),
      `expected at most ${asText(sees['maxChars'])} characters`,
      first.length,
    ),
    ...(sees['startsWithNotice'] === true
      ? unless(head.includes('['), 'expected a notice before the text', first)
      : []),
    ...unmentioned('the notice', head, sees['noticeMentions']),
    ...(expect['nextPageWorks'] === true
      ? unless(
          (await read(maxLength)).includes(body.slice(maxLength, maxLength + 100)),
          'expected the next section',
          '',
        )
      : []),
    ...(typeof expect['memoryMaxMb'] === 'number'
      ? unless(grownMb < expect['memoryMaxMb'], 'expected less memory', grownMb)
      : []),
  ];
};

const numbered = (chars: number): string =>
  Array.from({ length: Math.ceil(chars / 10) }, (_, index) => `w${String(index).padStart(7, '0')} `)
    .join('')
    .padEnd(chars, 'x')
    .slice(0, chars);
