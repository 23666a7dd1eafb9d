import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { delay } from '../../../packages/gantry/src/kernel/abort.ts';
import { systemClock } from '../../../packages/gantry/src/kernel/clock.ts';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { differences, outOfRange, unmentioned } from '../lib/compare.ts';
import { asText, listOf } from '../lib/read-cases.ts';
import { startServed } from '../lib/served-gantry.ts';
import { wrongState } from '../lib/server-state.ts';
import { playerEntry } from '../lib/stdio-player.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

const retryDelayMs = 300;

/** Several servers with given start times → who is ready when, and what becomes of the others. */
export const startServers: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['servers', 'connectTimeoutMs']);
  const children = Object.keys(expect).filter((key) => /^childOf\w+Alive$/.test(key));
  refuseUnread(expect, 'the expectation', ['readyWithinMs', 'state', 'errorMentions', 'retryLater', ...children]);
  const folder = await mkdtemp(join(tmpdir(), 'gantry-field-'));
  const pidFile = (id: string): string => join(folder, `${id.toLowerCase()}.pids`);
  const entries = Object.fromEntries(
    listOf(input['servers']).map((server) => {
      if (!isObject(server)) throw new NotCovered('a server is no object');
      refuseUnread(server, 'a server', ['id', 'initializeMs']);
      const id = asText(server['id']);
      return [id, playerEntry({ initializeMs: server['initializeMs'] as number | null, pidFile: pidFile(id) })];
    }),
  );
  try {
    const startedMs = performance.now();
    await using served = await startServed(entries, {
      connectTimeoutMs: input['connectTimeoutMs'] as number | undefined,
      connectRetryBaseDelayMs: retryDelayMs,
    });
    const readyMs: Record<string, number> = {};
    const note = (): void => {
      for (const { name, state } of served.servers.servers())
        if (state === 'connected') readyMs[name] ??= performance.now() - startedMs;
    };
    const stop = served.gantry.toolsets.onChange(note);
    await served.servers.ready();
    stop();
    note();
    const problems: string[] = [];
    for (const [id, max] of Object.entries(asMembers(expect['readyWithinMs'])))
      problems.push(...outOfRange(`${id} is ready after ms`, readyMs[id] ?? Infinity, { max }));
    for (const [id, state] of Object.entries(asMembers(expect['state'])))
      problems.push(...wrongState(served.status(id), state));
    const failed = served.servers.servers().filter(({ state }) => state !== 'connected');
    for (const { name, lastError = '' } of failed)
      problems.push(...unmentioned(`${name}: error`, lastError, expect['errorMentions']));
    for (const key of children) {
      const [first] = pidsIn(pidFile(/^childOf(\w+)Alive$/.exec(key)?.[1] as string));
      problems.push(...differences(key, first !== undefined && isAlive(first), expect[key]));
    }
    if ('retryLater' in expect)
      for (const { name } of failed)
        problems.push(...differences('tried again', await triedAgain(pidFile(name)), expect['retryLater']));
    return problems;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const asMembers = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});

const pidsIn = (file: string): number[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean).map(Number) : [];

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const triedAgain = async (file: string): Promise<boolean> => {
  for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 100) {
    if (pidsIn(file).length > 1) return true;
    await delay(systemClock, 100);
  }
  return false;
};
