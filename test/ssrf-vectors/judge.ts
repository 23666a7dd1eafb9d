import { classifyAddress, createGuardedClient } from 'gantry/net';
import { stubWire } from './stub-wire.ts';

/** One row of a vector file; `how_to_use` in the file explains the fields. */
export interface Vector {
  readonly id: string;
  readonly kind: string;
  readonly verdict: 'block' | 'allow';
  readonly level: 'must' | 'should';
  readonly address?: string;
  readonly url?: string;
  readonly hops?: readonly { readonly status: number; readonly location?: string }[];
  readonly dns?: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly connectTo?: readonly string[];
  readonly mustNotConnect?: readonly string[];
  readonly blockedHop?: number;
}

/** What became of a vector: `wrong` fails the run, `differs` is a recommendation that was not followed. */
export interface Judgement {
  readonly id: string;
  readonly result: 'passed' | 'wrong' | 'differs' | 'not covered';
  readonly wanted: string;
  readonly got: string;
}

/** Where a host is that a vector says nothing about: only a rule about its name can block it. */
const elsewhere = ['93.184.215.14'];

/** Runs one vector through the guard, under production policy, with DNS and connections stubbed. */
export const judgeVector = async (vector: Vector): Promise<Judgement> => {
  if (vector.kind === 'address' && vector.address !== undefined) {
    const type = classifyAddress(vector.address);
    return judge(vector, { blocked: !type.public, text: type.reason, dialled: [], requests: 0 });
  }
  if ((vector.kind === 'url' || vector.kind === 'redirect') && vector.url !== undefined)
    return judge(vector, await run(vector, vector.url));
  return { id: vector.id, result: 'not covered', wanted: vector.verdict, got: `kind "${vector.kind}"` };
};

interface Run {
  readonly blocked: boolean;
  readonly text: string;
  readonly dialled: readonly string[];
  readonly requests: number;
}

const run = async (vector: Vector, url: string): Promise<Run> => {
  const wire = stubWire(vector.hops);
  const lookups = new Map<string, number>();
  await using client = createGuardedClient({
    dial: wire.dial,
    lookup: async (host) => {
      const round = lookups.get(host) ?? 0;
      lookups.set(host, round + 1);
      const rounds = vector.dns?.[host];
      return rounds === undefined ? elsewhere : (rounds[Math.min(round, rounds.length - 1)] ?? []);
    },
  });
  const ended = await client.fetch(url).then(
    (response) => ({ blocked: response.status !== 200, text: `HTTP ${response.status} of ${response.url}` }),
    (thrown: unknown) => ({ blocked: true, text: String(thrown) }),
  );
  return { ...ended, dialled: wire.dialled, requests: wire.requests.length };
};

const judge = (vector: Vector, { blocked, text, dialled, requests }: Run): Judgement => {
  const got = `${blocked ? 'block' : 'allow'}, dialled ${dialled.join(' ') || 'nothing'}: ${text}`;
  const done = (result: Judgement['result'], wanted: string): Judgement => ({ id: vector.id, result, wanted, got });
  const forbidden = dialled.filter((address) => vector.mustNotConnect?.includes(address));
  // Holds whatever the verdict and level.
  if (forbidden.length > 0) return done('wrong', `no connection to ${forbidden.join(' ')}`);
  const wrong = vector.level === 'should' ? 'differs' : 'wrong';
  if (blocked !== (vector.verdict === 'block')) return done(wrong, vector.verdict);
  if (blocked && vector.blockedHop !== undefined && requests !== vector.blockedHop)
    return done(wrong, `${vector.verdict} at hop ${vector.blockedHop}`);
  const { connectTo } = vector;
  if (!blocked && connectTo && !dialled.every((address) => connectTo.includes(address)))
    return done(wrong, `connection to ${connectTo.join(' or ')}`);
  return done('passed', vector.verdict);
};
