import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { listenOnLoopback } from '../../fixtures/listen-on-loopback.ts';
import { searxngEngine } from '../../../packages/gantry/src/web/search/searxng.ts';
import { createSearchChain } from '../../../packages/gantry/src/web/search/search-chain.ts';
import { webSearchTool } from '../../../packages/gantry/src/web/search/web-search-tool.ts';
import { systemClock } from '../../../packages/gantry/src/kernel/clock.ts';
import { silentLog } from '../../../packages/gantry/src/kernel/log.ts';
import { differences, unmentioned } from '../lib/compare.ts';
import { asText, listOf, rowsOf } from '../lib/read-cases.ts';
import { callAsModel, offering, startGantry } from '../lib/local-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

/** What a metasearch answered → what the model is told. Nothing is ever kept, so no answer can be kept wrongly. */
export const searchAnswer: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  refuseUnread(input, 'the input', ['rows']);
  refuseUnread(expect, 'the expectation', ['outcomes', 'row1Cached']);
  const outcomes = listOf(expect['outcomes']);
  let row: Readonly<Record<string, unknown>> = {};
  await using server = await listenOnLoopback((request, response) => {
    if (request.url?.endsWith('/healthz')) return void response.end('OK');
    const { status, json, body } = row;
    response.writeHead(Number(status), { 'content-type': json === undefined ? 'text/plain' : 'application/json' });
    response.end(json === undefined ? asText(body) : JSON.stringify(json));
  });
  const engine = searxngEngine({
    fetch: async (url, init) => fetch(url, { signal: init?.signal ?? null }),
    baseUrl: server.url,
    clock: systemClock,
    log: silentLog,
    timeoutMs: 5000,
    healthCacheMs: 60_000,
  });
  const tool = webSearchTool({ chain: createSearchChain([engine], silentLog), maxSearchResults: 5 });
  await using local = await startGantry(() => [offering([tool])]);
  const problems: string[] = [];
  for (const [index, given] of rowsOf(fieldCase).entries()) {
    if (!isObject(given)) throw new NotCovered(`row ${index} is no object`);
    refuseUnread(given, `row ${index}`, ['status', 'json', 'body']);
    row = given;
    const wanted = outcomes[index];
    if (!isObject(wanted)) continue;
    refuseUnread(wanted, `outcome ${index}`, ['isError', 'mentions', 'results']);
    const { isError, text } = await callAsModel(local.gantry, { name: 'web_search', arguments: { query: 'q' } }, []);
    const subject = `row ${index}`;
    problems.push(...differences(`${subject}: isError`, isError, wanted['isError']));
    problems.push(...unmentioned(subject, text, wanted['mentions']));
    if (wanted['results'] !== undefined)
      problems.push(...differences(`${subject}: results`, text.match(/^\d+\. /gm)?.length ?? 0, wanted['results']));
  }
  return problems;
};
