import { outcomeText } from 'gantry';
import type { Outcome } from 'gantry';
import { delay } from '../../../../packages/gantry/src/kernel/abort.ts';
import { systemClock } from '../../../../packages/gantry/src/kernel/clock.ts';
import { GantryError } from '../../../../packages/gantry/src/kernel/errors.ts';
import { isObject } from '../../../../packages/gantry/src/kernel/json.ts';
import { startRawServer, toolNamed, written } from '../../../fixtures/raw-server.ts';
import { unless } from '../../lib/compare.ts';
import { textsOf } from '../../lib/read-cases.ts';
import { startServed } from '../../lib/served-gantry.ts';
import { startSleepingScript } from '../../lib/sleeping-script.ts';
import { askSeen, playerEntry } from '../../lib/stdio-player.ts';
import type { Handler } from '../../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../../lib/verdict.ts';

const privateReason = 'the person typed something private';
const stdio = 'mcp stdio';
const http = 'mcp http';
const script = 'local script';

/** A turn with several calls that a person stops → what each server is told and what the history holds. */
export const stoppedTurn: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['script', 'calls']);
  refuseUnread(expect, 'the expectation', ['within1s', 'initializeNeverCancelled', 'reasonSent', 'modelHistory']);
  const kinds = textsOf(input['calls']);
  const strange = kinds.filter((kind) => kind !== http && kind !== stdio && kind !== script);
  if (strange.length > 0) throw new NotCovered(`nothing runs ${strange.join(', ')} yet`);
  const begun = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  await using server = await startRawServer({
    'tools/list': () => ({ tools: [toolNamed('slow')] }),
    'tools/call': (_request, response) => {
      begun.resolve();
      response.once('close', closed.resolve);
      return written;
    },
  });
  await using served = await startServed({ http: { url: server.url }, stdio: playerEntry({ plays: { slow: {} } }) });
  await served.servers.ready();
  const stop = new AbortController();
  const call = (name: string): Promise<Outcome> =>
    served.gantry.call(`${name}__slow`, {}, { caller: 'model', signal: stop.signal });
  await using sleeping = kinds.includes(script) ? await startSleepingScript(stop.signal) : undefined;
  const calls = kinds.map((kind) => (kind === script && sleeping?.outcome) || call(kind === http ? 'http' : 'stdio'));
  if (kinds.includes(http)) await begun.promise;
  while (kinds.includes(stdio) && !(await askSeen(served, 'stdio')).seen.some(({ params }) => params?.name === 'slow'))
    await delay(systemClock, 20);
  stop.abort(new GantryError('cancelled', `The call was cancelled: ${privateReason}.`));
  const outcomes = await Promise.all(calls);
  await Promise.race([
    delay(systemClock, 1000),
    Promise.all([server.until('notifications/cancelled'), closed.promise]),
  ]);
  const scriptsLeft = await sleeping?.count();
  const { seen } = await askSeen(served, 'stdio');
  const told = {
    [http]: server.seen.filter(({ method }) => method === 'notifications/cancelled').map(({ params }) => params),
    [stdio]: seen.filter(({ method }) => method === 'notifications/cancelled').map(({ params }) => params),
  };
  const initializeIds: ReadonlySet<unknown> = new Set(
    [...server.seen, ...seen].filter(({ method }) => method === 'initialize').map(({ id }) => id),
  );
  const all = [...told[http], ...told[stdio]] as ({ requestId?: unknown; reason?: unknown } | undefined)[];
  const within = isObject(expect['within1s']) ? expect['within1s'] : {};
  const problems = Object.keys(within).flatMap((kind) =>
    kind === script
      ? unless(scriptsLeft === 0, `${kind}: expected its processes to be ended`, scriptsLeft)
      : unless((told[kind as typeof http]?.length ?? 0) > 0, `${kind}: expected notifications/cancelled`, told),
  );
  if (expect['initializeNeverCancelled'])
    problems.push(
      ...unless(
        !all.some((params) => initializeIds.has(params?.requestId)),
        'expected initialize to be left alone',
        all,
      ),
    );
  if (expect['reasonSent'] !== undefined)
    problems.push(
      ...unless(!JSON.stringify(all).includes(privateReason), "expected no word of the person's reason", all),
    );
  if (expect['modelHistory'] !== undefined) {
    const texts = outcomes.map(outcomeText);
    problems.push(
      ...unless(
        texts.every((text) => /cancel/i.test(text)),
        'expected each call to be cancelled',
        texts,
      ),
    );
  }
  return problems;
};
