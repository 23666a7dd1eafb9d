import type { SeenRequest } from '../../fixtures/raw-server.ts';
import { differences, outOfRange, shown, unless, unmentioned } from '../lib/compare.ts';
import { callAsModel } from '../lib/local-gantry.ts';
import type { CallFacts } from '../lib/judge-call.ts';
import { asText, listOf, textsOf } from '../lib/read-cases.ts';
import type { ScriptedServer } from '../lib/scripted-server.ts';
import { calledTool, startScriptedServer, variantsOf } from '../lib/scripted-server.ts';
import type { ServedGantry } from '../lib/served-gantry.ts';
import { wrongState } from '../lib/server-state.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';
import { roundTrips } from './round-trips.ts';
import { expiredToken } from './expired-token.ts';

type Members = Readonly<Record<string, unknown>>;

interface Played {
  readonly server: ScriptedServer;
  readonly served: ServedGantry;
  readonly calls: readonly CallFacts[];
  readonly tookMs: number;
  /** Requests until the server was connected. */
  readonly listing: readonly SeenRequest[];
}

/** Who says what over Streamable HTTP → what the client sends and what its caller sees. */
export const httpTranscript: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  if ('tokenEndpoint' in input) return await expiredToken(fieldCase);
  if ('rows' in input && 'person' in input) return await roundTrips(fieldCase);
  refuseUnread(input, 'the input', ['era', 'script', 'then', 'server', 'pages', 'parallelCalls']);
  refuseUnread(expect, 'the expectation', Object.keys(judges));
  if (input['era'] !== undefined && !asText(input['era']).startsWith('2025'))
    throw new NotCovered(`the server is one of 2025 only`);
  const variants = variantsOf(input);
  const problems: string[] = [];
  for (const variant of variants) problems.push(...(await play(variant, expect)));
  return problems;
};

const play = async (input: Members, expect: Members): Promise<string[]> => {
  await using server = await startScriptedServer(input);
  await using served = await startServed({ field: { url: server.url } });
  await served.servers.ready();
  const listing = server.seen.slice();
  const startedMs = performance.now();
  const count = Number(input['parallelCalls'] ?? ('pages' in input ? 0 : 1));
  const name = `field__${calledTool(input)}`;
  const calls = await Promise.all(
    Array.from({ length: count }, () => callAsModel(served.gantry, { name, arguments: { text: 'hi' } }, [])),
  );
  const played: Played = { server, served, calls, listing, tookMs: performance.now() - startedMs };
  return Object.entries(judges).flatMap(([key, judge]) => (key in expect ? judge(expect[key], played) : []));
};

const judges: Readonly<Record<string, (expected: unknown, played: Played) => string[]>> = {
  clientSends: (expected, { server }) => {
    let rest = server.sinceFailure();
    return textsOf(expected).flatMap((phrase) => {
      const at = rest.findIndex(fitting(phrase));
      const came = rest.map(({ method, session }) => `${method} with ${session ?? 'no session'}`);
      rest = rest.slice(at + 1);
      return unless(at >= 0, `expected the client to send ${phrase}`, came);
    });
  },
  callOutcome: (expected, { calls }) => calls.flatMap((call, index) => wrongOutcome(`call ${index}`, expected, call)),
  callOutcomes: (expected, { calls }) =>
    calls.flatMap((call, index) => wrongOutcome(`call ${index}`, listOf(expected)[index], call)),
  callerSees: (expected, { calls }) => {
    if (expected !== 'one normal result') throw new NotCovered(`"${asText(expected)}" cannot be read`);
    return calls.flatMap(({ text, isError }) => unless(!isError && text === 'called', 'expected the result', text));
  },
  attemptsOfTheCall: (expected, { server }) => outOfRange('attempts', server.count('tools/call'), expected),
  initializeCount: (expected, { server }) => outOfRange('initialize', server.count('initialize'), expected),
  // A server that never connected has no tools, so what went wrong stands in its state.
  errorMentions: (expected, { calls, served }) => {
    const { lastError = '' } = served.status('field');
    return calls.flatMap(({ text }) => unmentioned('error', `${text} ${lastError}`.trim(), expected));
  },
  maxMs: (expected, { tookMs }) => outOfRange('milliseconds', tookMs, { max: expected }),
  tools: (expected, { served }) => {
    const tools = served.gantry
      .toolset({ caller: 'operator' })
      .tools.flatMap(({ target }) => (target ? [target.tool] : []));
    return differences('tools', tools.toSorted(), textsOf(expected).toSorted());
  },
  cursorsSent: (expected, { listing }) =>
    differences(
      'cursors',
      listing.filter(isListing).map(({ params }) => params?.['cursor'] ?? null),
      expected,
    ),
  requestsMax: (expected, { listing }) => outOfRange('listings', listing.filter(isListing).length, { max: expected }),
  warned: (expected, { served }) =>
    differences(
      'warned',
      served.log.some(({ level, facts }) => level === 'warn' && facts['server'] === 'field'),
      expected,
    ),
  state: (expected, { served }) => wrongState(served.status('field'), expected),
  getRetries: (expected, { server }) => outOfRange('repeated GET', Math.max(0, server.count('GET') - 1), expected),
};

const isListing = ({ method }: SeenRequest): boolean => method === 'tools/list';

const wrongOutcome = (subject: string, expected: unknown, { isError, text }: CallFacts): string[] => {
  if (expected !== 'success' && expected !== 'error')
    throw new NotCovered(`the outcome ${shown(expected)} cannot be read`);
  return unless(isError === (expected === 'error'), `${subject}: expected ${expected}`, text);
};

/** Reads `tools/call echo with B`, `initialize without Mcp-Session-Id`. */
const fitting = (phrase: string): ((request: SeenRequest) => boolean) => {
  const [, method, tool, session, without] =
    /^(\S+)(?: (?!with)(\S+))?(?: with (\S+)| (without) Mcp-Session-Id)?$/.exec(phrase) ?? [];
  if (method === undefined) throw new NotCovered(`"${phrase}" cannot be read`);
  return (request) =>
    request.method === method &&
    (tool === undefined || request.params?.['name'] === tool) &&
    (session === undefined || request.session === session) &&
    (without === undefined || request.session === undefined);
};
