import type { Gantry } from 'gantry';
import type { ServedGantry } from '../lib/served-gantry.ts';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { RawServer } from '../../fixtures/raw-server.ts';
import { startRawServer, toolNamed } from '../../fixtures/raw-server.ts';
import { systemClock } from '../../../packages/gantry/src/kernel/clock.ts';
import { delay } from '../../../packages/gantry/src/kernel/abort.ts';
import { shown, unless } from '../lib/compare.ts';
import { sentTools } from '../lib/provider-tools.ts';
import { asText, listOf, textsOf } from '../lib/read-cases.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

interface Wanted {
  readonly id: string;
  readonly connectMs: number;
  readonly tools: readonly unknown[];
}

/** Tools over several turns → the bytes of the tool part. */
export const toolsPayload: Handler = async ({ input, expect }) => {
  refuseUnread(expect, 'the expectation', ['payloadBytesIdentical', 'orderBy']);
  const payloads = await ('servers' in input ? payloadsOfSends(input) : payloadsOfListings(input));
  const [first = ''] = payloads;
  const problems = payloads.flatMap((payload, index) =>
    unless(
      (payload === first) === (expect['payloadBytesIdentical'] ?? true),
      `send ${index + 1}: expected the bytes of the first`,
      firstDifference(first, payload),
    ),
  );
  if (expect['orderBy'] === undefined) return problems;
  if (!/server.*name/i.test(asText(expect['orderBy'])))
    throw new NotCovered(`the order ${shown(expect['orderBy'])} cannot be read`);
  const names = (JSON.parse(first) as { name: string }[]).map(({ name }) => name);
  return [
    ...problems,
    ...unless(shown(names) === shown(names.toSorted()), 'expected the order of server and name', names),
  ];
};

/** The same listing written in different ways, each in a process of its own. */
const payloadsOfListings = async (input: Readonly<Record<string, unknown>>): Promise<string[]> => {
  const turns = Object.keys(input).filter((key) => /^toolAtTurn\d+$/.test(key));
  refuseUnread(input, 'the input', [...turns, 'systemPromptMayHold']);
  const payloads: string[] = [];
  for (const turn of turns) {
    await using world = await startWorld([{ id: 'field', connectMs: 0, tools: listOf(input[turn]) }]);
    payloads.push(payloadOf(world.served.gantry));
  }
  return payloads;
};

const payloadsOfSends = async (input: Readonly<Record<string, unknown>>): Promise<string[]> => {
  refuseUnread(input, 'the input', ['servers', 'sends']);
  const wanted = listOf(input['servers']).map((server): Wanted => {
    if (!isObject(server)) throw new NotCovered('a server is no object');
    refuseUnread(server, 'a server', ['id', 'connectMs', 'tools']);
    return { id: asText(server['id']), connectMs: Number(server['connectMs'] ?? 0), tools: listOf(server['tools']) };
  });
  await using world = await startWorld(wanted);
  const payloads: string[] = [];
  for (const send of textsOf(input['sends'])) payloads.push(await payloadOfSend(send, world, wanted));
  return payloads;
};

const payloadOfSend = async (send: string, { served, relist }: World, wanted: readonly Wanted[]): Promise<string> => {
  const again = /^after (?:a )?reconnect of (\S+)$/.exec(send)?.[1];
  const listing = /^server (\S+) lists \[(.*)\]$/.exec(send);
  if (again !== undefined) await served.servers.refresh(again);
  else if (listing) {
    relist(listing[1] as string, (listing[2] as string).split(/\s*,\s*/));
    await served.servers.refresh(listing[1]);
  } else if (/^new process\b.*\breverse/.test(send)) {
    const slowest = Math.max(...wanted.map(({ connectMs }) => connectMs));
    await using other = await startWorld(
      wanted.map((server) => ({ ...server, connectMs: slowest - server.connectMs })),
    );
    return payloadOf(other.served.gantry);
  } else if (/^(?:new process|after a restart)\b/.test(send)) {
    await using other = await startWorld(wanted);
    return payloadOf(other.served.gantry);
  } else if (!/^turn \d+$/.test(send)) throw new NotCovered(`the send "${send}" cannot be read`);
  return payloadOf(served.gantry);
};

interface World extends AsyncDisposable {
  readonly served: ServedGantry;
  relist(server: string, tools: readonly unknown[]): void;
}

const startWorld = async (wanted: readonly Wanted[]): Promise<World> => {
  const stack = new AsyncDisposableStack();
  const lists = new Map(wanted.map(({ id, tools }) => [id, tools]));
  const entries: Record<string, { url: string }> = {};
  for (const { id, connectMs } of wanted) {
    const server: RawServer = stack.use(
      await startRawServer({
        'tools/list': async () => {
          await delay(systemClock, connectMs);
          return { tools: (lists.get(id) ?? []).map((tool) => (isObject(tool) ? tool : toolNamed(asText(tool)))) };
        },
      }),
    );
    entries[id] = { url: server.url };
  }
  const served = stack.use(await startServed(entries));
  await served.servers.ready();
  return {
    served,
    relist: (server, tools) => void lists.set(server, tools),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

const payloadOf = (gantry: Gantry): string =>
  JSON.stringify(
    sentTools(gantry, 'anthropic', (source) => source.startsWith('mcp:') && source !== 'mcp:management').map(
      ({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: inputSchema,
      }),
    ),
  );

const firstDifference = (first: string, other: string): string => {
  let at = 0;
  while (at < first.length && first[at] === other[at]) at += 1;
  return other.slice(Math.max(0, at - 40), at + 40);
};
