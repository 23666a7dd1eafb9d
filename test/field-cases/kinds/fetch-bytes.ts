import type { ServerResponse } from 'node:http';
import { brotliCompressSync, createGzip, gzipSync } from 'node:zlib';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { listenOnLoopback } from '../../fixtures/listen-on-loopback.ts';
import { unless, wrongContents } from '../lib/compare.ts';
import { asText, rowsOf, textsOf } from '../lib/read-cases.ts';
import { callAsModel } from '../lib/local-gantry.ts';
import { startWebGantry } from '../lib/web-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

const rowMembers = ['contentType', 'hex', 'contentEncoding', 'body', 'unpacksToBytes', 'contentLength', 'actualBytes'];

/** Raw bodies and headers → what the model reads. */
export const fetchBytes: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  refuseUnread(input, 'the input', ['rows', 'maxBytes', ...rowMembers]);
  refuseUnread(expect, 'the expectation', ['textContains', 'outcomes', 'memoryMaxMb', 'noBinaryInText']);
  const rows = rowsOf(fieldCase);
  const texts = textsOf(expect['textContains']);
  const outcomes = textsOf(expect['outcomes']);
  let row: Readonly<Record<string, unknown>> = {};
  await using server = await listenOnLoopback((_request, response) => answer(row, response));
  const maxBytes = Number(input['maxBytes'] ?? 5_000_000);
  await using local = await startWebGantry({ maxFetchSizeMb: maxBytes / 1024 / 1024 });
  const problems: string[] = [];
  for (const [index, given] of rows.entries()) {
    if (!isObject(given)) throw new NotCovered(`row ${index} is no object`);
    refuseUnread(given, `row ${index}`, rowMembers);
    row = given;
    const before = process.memoryUsage.rss();
    const { isError, text } = await callAsModel(
      local.gantry,
      { name: 'fetch_url', arguments: { url: server.url } },
      [],
    );
    const grownMb = (process.memoryUsage.rss() - before) / 1024 / 1024;
    const subject = `row ${index}`;
    if (texts[index] !== undefined) problems.push(...wrongContents(subject, text, { contains: texts[index] }));
    if (outcomes[index] !== undefined) problems.push(...judge(subject, outcomes[index], { isError, text }, maxBytes));
    if (typeof expect['memoryMaxMb'] === 'number')
      problems.push(
        ...unless(
          grownMb < expect['memoryMaxMb'],
          `${subject}: expected at most ${expect['memoryMaxMb']} MB more`,
          grownMb,
        ),
      );
    if (expect['noBinaryInText'] === true)
      problems.push(...unless(!/[^\P{Cc}\s]/u.test(text), `${subject}: expected text`, text));
  }
  return problems;
};

const judge = (
  subject: string,
  outcome: string,
  came: { isError: boolean; text: string },
  maxBytes: number,
): string[] => {
  if (/^stopped at \d+/.test(outcome)) {
    const isStopped = came.text.includes(`stopped at ${maxBytes} bytes`) && came.text.length < maxBytes + 1000;
    return unless(isStopped, `${subject}: expected a notice that it was stopped at ${maxBytes}`, came.text);
  }
  if (outcome === 'ok or clear error' && came.isError)
    return unless(came.text.length > 20, `${subject}: expected a clear error`, came.text);
  if (!outcome.startsWith('ok')) throw new NotCovered(`the outcome "${outcome}" cannot be read`);
  return unless(!came.isError && came.text.includes('ok'), `${subject}: expected the page`, came.text);
};

const answer = (row: Readonly<Record<string, unknown>>, response: ServerResponse): void => {
  response.setHeader('content-type', row['contentType'] === undefined ? 'text/html' : asText(row['contentType']));
  if (row['contentEncoding'] !== undefined) response.setHeader('content-encoding', asText(row['contentEncoding']));
  if (row['hex'] !== undefined) return void response.end(Buffer.from(asText(row['hex']), 'hex'));
  if (row['unpacksToBytes'] !== undefined) return pour(createGzip(), Number(row['unpacksToBytes']), response);
  if (row['actualBytes'] !== undefined) return pour(undefined, Number(row['actualBytes']), response);
  const text = asText(row['body']);
  const page = Buffer.from(/<p>.*<\/p>/.exec(text)?.[0] ?? text);
  if (text.startsWith('gzip of gzip')) response.end(gzipSync(gzipSync(page)));
  else if (text.startsWith('gzip of')) response.end(gzipSync(page));
  else if (text.startsWith('brotli of')) response.end(brotliCompressSync(page));
  else response.end(page);
};

/** Sends so many bytes of text, packed or not, for as long as somebody reads. */
const pour = (packer: ReturnType<typeof createGzip> | undefined, bytes: number, response: ServerResponse): void => {
  const piece = Buffer.alloc(1024 * 1024, 'words of a page ');
  const out = packer ?? response;
  packer?.pipe(response);
  let left = bytes;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= piece.length;
      if (!out.write(piece)) {
        out.once('drain', more);
        return;
      }
    }
    out.end();
  };
  response.on('close', () => {
    left = 0;
    packer?.destroy();
  });
  more();
};
