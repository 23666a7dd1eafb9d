import { outcomeText } from 'gantry';
import type { Outcome } from 'gantry';
import type { Play } from '../../../fixtures/stdio-player.ts';
import { delay } from '../../../../packages/gantry/src/kernel/abort.ts';
import { systemClock } from '../../../../packages/gantry/src/kernel/clock.ts';
import { GantryError } from '../../../../packages/gantry/src/kernel/errors.ts';
import { isObject } from '../../../../packages/gantry/src/kernel/json.ts';
import { differences, unless } from '../../lib/compare.ts';
import { asText, listOf, textsOf } from '../../lib/read-cases.ts';
import { startServed } from '../../lib/served-gantry.ts';
import type { Seen } from '../../lib/stdio-player.ts';
import { askSeen, playerEntry } from '../../lib/stdio-player.ts';
import type { Handler } from '../../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../../lib/verdict.ts';

/** A call of the transcript, by the id that the transcript gives it. */
interface Scripted {
  readonly tool: string;
  cancelAtMs?: number;
  readonly answers: { atMs: number; as: 'result' | 'error' }[];
}

interface Ended {
  readonly outcome: Outcome;
  /** From when it was cancelled, else from the call. */
  readonly tookMs: number;
}

/** Calls one after another, some cancelled, with answers that come late → how each ends and what the server is told. */
export const cancelledTranscript: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['script']);
  const calls = callsOf(listOf(input['script']));
  const outcomes = Object.keys(expect).filter((key) => /^call\S+$/.test(key));
  refuseUnread(expect, 'the expectation', ['sent', 'unhandledErrors', ...outcomes]);
  const plays: Record<string, Play> = {};
  for (const { tool, answers } of calls.values()) plays[tool] = { answers };
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  try {
    await using served = await startServed({ field: playerEntry({ plays }) });
    await served.servers.ready();
    const ended = new Map<string, Ended>();
    for (const [id, scripted] of calls) {
      const call = served.gantry.call.bind(served.gantry, `field__${scripted.tool}`, {});
      ended.set(id, await endOf((signal) => call({ caller: 'model', signal }), scripted.cancelAtMs));
      // What comes after the cancelling must have come before the next call.
      if (scripted.cancelAtMs !== undefined)
        await delay(systemClock, Math.max(0, ...scripted.answers.map(({ atMs }) => atMs)) + 50);
    }
    const { seen } = await askSeen(served, 'field');
    const problems = outcomes.flatMap((key) => {
      const end = ended.get(key.slice('call'.length));
      if (!end) throw new NotCovered(`the transcript has no ${key}`);
      return wrongEnd(key, asText(expect[key]), end);
    });
    problems.push(...textsOf(expect['sent']).flatMap((phrase) => unsent(phrase, seen, calls)));
    if ('unhandledErrors' in expect) {
      const errors = served.log.filter(({ level }) => level === 'error').map(({ message }) => message);
      problems.push(...differences('unhandled errors', unhandled.length + errors.length, expect['unhandledErrors']));
    }
    return problems;
  } finally {
    process.off('unhandledRejection', note);
  }
};

const callsOf = (steps: readonly unknown[]): ReadonlyMap<string, Scripted> => {
  const calls = new Map<string, Scripted>();
  const known = (id: string | undefined): Scripted => {
    const call = calls.get(id ?? '');
    if (!call) throw new NotCovered(`the transcript calls nothing with the id ${asText(id)}`);
    return call;
  };
  for (const step of steps) {
    const said = isObject(step) ? asText(step['c'] ?? step['s'] ?? step['o']) : asText(step);
    const call = /^tools\/call (\S+) \(id (\S+)\)$/.exec(said);
    const cancel = /^cancel id (\S+) at (\d+) ms$/.exec(said);
    const answer = /^(result|error) for id (\S+)(?: at (\d+) ms)?$/.exec(said);
    if (call) calls.set(call[2] as string, { tool: call[1] as string, answers: [] });
    else if (cancel) known(cancel[1]).cancelAtMs = Number(cancel[2]);
    else if (answer)
      known(answer[2]).answers.push({ atMs: Number(answer[3] ?? 0), as: answer[1] as 'result' | 'error' });
    else throw new NotCovered(`the step "${said}" cannot be read`);
  }
  return calls;
};

const endOf = async (
  call: (signal: AbortSignal) => Promise<Outcome>,
  cancelAtMs: number | undefined,
): Promise<Ended> => {
  const stop = new AbortController();
  const outcome = call(stop.signal);
  let fromMs = performance.now();
  if (cancelAtMs !== undefined) {
    await delay(systemClock, cancelAtMs);
    fromMs = performance.now();
    stop.abort(new GantryError('cancelled', 'The call was cancelled by the person.'));
  }
  return { outcome: await outcome, tookMs: performance.now() - fromMs };
};

const wrongEnd = (subject: string, expected: string, { outcome, tookMs }: Ended): string[] => {
  const text = outcomeText(outcome);
  if (expected === 'success') return unless(outcome.status === 'done', `${subject}: expected success`, text);
  const cancelled = /^rejects (?:once )?with cancelled(?:, within (\d+) ms)?$/.exec(expected);
  if (!cancelled) throw new NotCovered(`the outcome "${expected}" cannot be read`);
  const max = Number(cancelled[1] ?? Infinity);
  return [
    ...unless(outcome.status === 'failed' && /cancel/i.test(text), `${subject}: expected that it was cancelled`, text),
    ...unless(tookMs <= max, `${subject}: expected an end within ${max} ms`, Math.round(tookMs)),
  ];
};

/** Reads `notifications/cancelled requestId 3`; the id is that of the transcript. */
const unsent = (phrase: string, seen: Seen['seen'], calls: ReadonlyMap<string, Scripted>): string[] => {
  const [, method, id] = /^(\S+) requestId (\S+)$/.exec(phrase) ?? [];
  const tool = calls.get(id ?? '')?.tool;
  if (method === undefined || tool === undefined) throw new NotCovered(`"${phrase}" cannot be read`);
  const request = seen.find(({ params }) => params?.name === tool);
  const sent = seen.filter((message) => message.method === method).map(({ params }) => params?.requestId);
  return unless(request?.id !== undefined && sent.includes(request.id), `expected ${phrase}`, sent);
};
