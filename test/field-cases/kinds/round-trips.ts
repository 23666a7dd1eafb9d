import { mcpServers } from 'gantry/mcp';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { SeenRequest } from '../../fixtures/raw-server.ts';
import { startModernRawServer } from '../../fixtures/modern-raw-server.ts';
import { differences, unless } from '../lib/compare.ts';
import { parseLoose } from '../lib/loose-value.ts';
import { asText, listOf } from '../lib/read-cases.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

type Members = Readonly<Record<string, unknown>>;

/** Answers of a server of 2026 that want something first, and what a person says → how the call is sent again. */
export const roundTrips: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['call', 'rows', 'person']);
  refuseUnread(expect, 'the expectation', ['rows', 'everyRetry', 'stateNeverReusedElsewhere']);
  const call = membersOf(membersOf(input['call'])['params']);
  const tool = asText(call['name']);
  const rows = listOf(input['rows']).map(membersOf);
  const people = listOf(input['person']).map(asText);
  const wanted = listOf(expect['rows']).map(membersOf);
  const problems: string[] = [];
  for (const [index, row] of rows.entries()) {
    const calls: SeenRequest[] = [];
    await using server = await startModernRawServer(tool, (request) => {
      calls.push(request);
      return calls.length === 1 ? row : { resultType: 'complete', content: [] };
    });
    await using served = await startServed({ field: { url: server.url } });
    await served.servers.ready();
    const { questions } = served.gantry.service(mcpServers) ?? served.servers;
    const args = membersOf(call['arguments']) as Parameters<typeof served.gantry.call>[1];
    const outcome = await served.gantry.call(`field__${tool}`, args, { caller: 'operator' });
    if (outcome.status === 'parked')
      await questions.answer(outcome.handle.id, toAnswer(people[index] ?? ''), { kind: 'person' });
    const [first, retry] = calls;
    problems.push(...wrongRetry(`row ${index}`, membersOf(wanted[index]?.['retry']), retry?.params));
    if (!retry || !first) continue;
    const isSame = ['name', 'arguments'].every(
      (key) => differences(key, retry.params?.[key], first.params?.[key]).length === 0,
    );
    problems.push(...unless(isSame && retry.method === first.method, `row ${index}: expected the same call`, retry));
    problems.push(...unless(retry.id !== first.id, `row ${index}: expected a new id`, retry.id));
    // The state of one call is nothing to the next.
    await served.gantry.call(`field__${tool}`, args, { caller: 'operator' });
    problems.push(
      ...unless(calls[2]?.params?.['requestState'] === undefined, `row ${index}: expected no old state`, calls[2]),
    );
  }
  return problems;
};

const wrongRetry = (row: string, wanted: Members, retry: Members | undefined): string[] => {
  const responses = wanted['inputResponses'];
  const mayBeMissing =
    isObject(responses) && Object.values(responses).some((value) => /not retried/.test(asText(value)));
  if (!retry) return unless(mayBeMissing, `${row}: expected a retry`, retry);
  const state = wanted['requestState'] === 'absent' ? undefined : wanted['requestState'];
  const problems = differences(`${row}: requestState`, retry['requestState'], state);
  const sent = retry['inputResponses'];
  if (!isObject(responses))
    return [
      ...problems,
      ...unless(sent === undefined || Object.keys(membersOf(sent)).length === 0, `${row}: expected no answers`, sent),
    ];
  return [...problems, ...differences(`${row}: inputResponses`, sent, responses)];
};

const toAnswer = (said: string): { answers?: unknown; decline?: boolean } => {
  if (said === 'decline') return { decline: true };
  const accepted = /^accept (\{.*\})$/.exec(said)?.[1];
  if (accepted === undefined) throw new NotCovered(`the person's "${said}" cannot be read`);
  return { answers: parseLoose(accepted) };
};

const membersOf = (value: unknown): Members => (isObject(value) ? value : {});
