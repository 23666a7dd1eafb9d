import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { startRawServer } from '../../fixtures/raw-server.ts';
import { differences, unless, unmentioned } from '../lib/compare.ts';
import { sentTools, toProvider } from '../lib/provider-tools.ts';
import { asText, listOf, textsOf } from '../lib/read-cases.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { refuseUnread } from '../lib/verdict.ts';
import { nameProblems } from './send-tools.ts';

/** A server's tool list → which tools can be called, and which are reported. */
export const registerTools: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['server', 'tools', 'provider']);
  refuseUnread(expect, 'the expectation', ['callable', 'reported', 'serverState', 'names']);
  const name = asText(input['server']);
  await using server = await startRawServer({ 'tools/list': () => ({ tools: input['tools'] }) });
  await using served = await startServed({ [name]: { url: server.url } });
  await served.servers.ready();
  const sent = sentTools(
    served.gantry,
    toProvider(input['provider'] ?? 'generic'),
    (source) => source === `mcp:${name}`,
  );
  const problems: string[] = [];
  const callable: string[] = [];
  for (const { registration } of sent) {
    const outcome = await served.gantry.call(registration.name, {}, { caller: 'model' });
    if (outcome.status === 'done') callable.push(registration.target?.tool ?? registration.name);
    else problems.push(`${registration.name} was listed and cannot be called`);
  }
  problems.push(...differences('callable', callable.toSorted(), textsOf(expect['callable']).toSorted()));
  const reports = served.log.filter(({ level }) => level === 'warn' || level === 'error');
  if (Array.isArray(expect['reported']) && expect['reported'].length === 0)
    problems.push(...unless(reports.length === 0, 'expected no report', reports));
  for (const wanted of listOf(expect['reported'])) {
    const { tool, reasonMentions } = isObject(wanted) ? wanted : { tool: wanted, reasonMentions: undefined };
    // One line may report several tools; each has a sentence of its own.
    const sentences = reports.flatMap(({ message, facts }) => [message, ...textsOf(facts['leftOut'])]);
    const about = sentences.filter((sentence) => sentence.includes(asText(tool)));
    problems.push(...unless(about.length > 0, `expected a report of ${asText(tool)}`, sentences));
    if (about.length > 0) problems.push(...unmentioned(`report of ${asText(tool)}`, about.join(' '), reasonMentions));
  }
  if ('serverState' in expect) problems.push(...differences('state', served.status(name).state, expect['serverState']));
  if (isObject(expect['names'])) {
    refuseUnread(expect['names'], 'the expected names', ['pattern', 'unique']);
    problems.push(
      ...nameProblems(
        sent.map((tool) => tool.name),
        expect['names'],
      ),
    );
  }
  return problems;
};
