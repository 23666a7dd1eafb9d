import type { ElicitationResponder } from 'gantry/mcp';
import { delay } from '../../../packages/gantry/src/kernel/abort.ts';
import { systemClock } from '../../../packages/gantry/src/kernel/clock.ts';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { differences, expectationPerRow, isSame, shown } from '../lib/compare.ts';
import { parseLoose } from '../lib/loose-value.ts';
import { asText, rowsOf, textsOf } from '../lib/read-cases.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Seen } from '../lib/stdio-player.ts';
import { askSeen, playerEntry } from '../lib/stdio-player.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

type Message = Seen['seen'][number];

/** Every request of a server needs an answer within this time. */
const answerWithinMs = 1000;

/** What a surface can do → the capabilities that a server is told, and the answers to what it asks all the same. */
export const handshake: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  refuseUnread(input, 'the input', ['rows', 'surface', 'serverSendsAnyway']);
  refuseUnread(expect, 'the expectation', ['capabilities', 'repliesInHeadless']);
  const rows = rowsOf(fieldCase);
  const asks = textsOf(input['serverSendsAnyway']);
  const wantedCapabilities = expectationPerRow(expect['capabilities'], rows.length);
  const problems: string[] = [];
  for (const [index, row] of rows.entries()) {
    const surface = isObject(row) ? asText(row['surface']) : '';
    const isHeadless = /headless|job|no person/i.test(surface);
    if (!isHeadless && !/interactive|chat|person/i.test(surface))
      throw new NotCovered(`no surface is like ${shown(row)}`);
    const { told, replies } = await shakeHands(asks, isHeadless ? undefined : somebody);
    problems.push(
      ...membersOf(wantedCapabilities[index]).flatMap(([name, there]) =>
        differences(`${surface}: ${name}`, told[name] !== undefined, there),
      ),
    );
    if (!isHeadless) continue;
    for (const [method, wanted] of membersOf(expect['repliesInHeadless'])) {
      const reply = replies.get(`ask-${asks.indexOf(method)}`);
      const isRight = reply !== undefined && optionsIn(asText(wanted)).some((option) => isReply(reply, option));
      if (!isRight) problems.push(`${method}: expected ${asText(wanted)}, came ${shown(reply)}`);
    }
  }
  return problems;
};

/** A person who can be asked. */
const somebody: ElicitationResponder = { answer: async () => ({ action: 'decline', reason: 'not now' }) };

/** Connects a server that asks right away, and gives what it was told and answered. */
const shakeHands = async (
  asks: readonly string[],
  person: ElicitationResponder | undefined,
): Promise<{ told: Readonly<Record<string, unknown>>; replies: ReadonlyMap<unknown, Message> }> => {
  await using served = await startServed(
    { field: playerEntry({ asks }) },
    person ? { responders: new Map([['person', person]]), defaultResponder: 'person' } : {},
  );
  await served.servers.ready();
  let seen = (await askSeen(served, 'field')).seen;
  for (let waitedMs = 0; waitedMs < answerWithinMs && repliesIn(seen).size < asks.length; waitedMs += 50) {
    await delay(systemClock, 50);
    seen = (await askSeen(served, 'field')).seen;
  }
  const told = seen.find(({ method }) => method === 'initialize')?.params?.capabilities ?? {};
  return { told, replies: repliesIn(seen) };
};

const membersOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);

const repliesIn = (seen: readonly Message[]): ReadonlyMap<unknown, Message> =>
  new Map(seen.filter(({ method }) => method === undefined).map((message) => [message.id, message]));

const optionsIn = (wanted: string): string[] => wanted.replace(/,\s*within .*$/, '').split(/\s+or\s+/);

/** Reads "error", "error -32601" and a result such as "{action:cancel}"; "similar" takes any error. */
const isReply = (reply: Message, option: string): boolean => {
  const error = /^error(?: (-?\d+))?$/.exec(option);
  if (error) return reply.error !== undefined && (error[1] === undefined || reply.error.code === Number(error[1]));
  if (option === 'similar') return reply.error !== undefined;
  if (option.startsWith('{')) return isSame(reply.result, parseLoose(option));
  throw new NotCovered(`the reply "${option}" cannot be read`);
};
