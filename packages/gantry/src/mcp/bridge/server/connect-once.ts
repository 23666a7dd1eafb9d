import { orAborted, startDeadline } from '../../../kernel/abort.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { DownstreamPrompt } from '../../wire/manage-messages.ts';
import { openConnection } from '../connection/open-connection.ts';
import { loadSdk } from '../connection/sdk.ts';
import { readSurface } from '../surface/read-surface.ts';
import type { SurfaceLists } from '../surface/surface.ts';
import type { HeldConnection } from './held-connection.ts';
import { holdConnection } from './held-connection.ts';
import type { ConfiguredEntry, ManagedServerOptions } from './managed-server.ts';

/** One attempt to connect. */
export interface ConnectOnce {
  readonly name: string;
  readonly entry: ConfiguredEntry;
  readonly knownPrompts: readonly DownstreamPrompt[];
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  readonly onListChanged: () => void;
  /** The connection ended by itself. */
  readonly onLost: (held: HeldConnection | undefined, reason: string) => void;
}

/**
 * Connects to a server and reads what it offers, all within the connect time-out. A failed attempt leaves nothing running.
 * @throws {GantryError} `server_unreachable` when the time is up; else what the connection threw.
 */
export const connectOnce = async (
  { name, entry, signal: closing, ...attempt }: ConnectOnce,
  { clock, log, settings, pool, env, clientVersion, tokensFor, answersFor }: ManagedServerOptions,
): Promise<{
  readonly held: HeldConnection;
  readonly lists: SurfaceLists;
  /** What is wrong with its lists. */
  readonly problem: string | undefined;
}> => {
  // Loading the SDK takes time that is not the server's.
  await loadSdk();
  let phase = 'complete initialize';
  using deadline = startDeadline(clock, settings.connectTimeoutMs, {
    signal: closing,
    onExpiry: () =>
      new GantryError(
        'server_unreachable',
        `Server "${name}" did not ${phase} within ${settings.connectTimeoutMs} ms.`,
        { details: { name } },
      ),
  });
  const { signal } = deadline;
  // What a model named is reached only where policy allows.
  const fetch = pool.fetchFor(name, { isGuarded: entry.origin === 'agent' });
  let held: HeldConnection | undefined;
  const connection = await openConnection(name, entry, {
    clock,
    log,
    fetch,
    tokens: tokensFor(name, entry, fetch),
    env,
    clientVersion,
    maxResponseBytes: settings.maxResponseBytes,
    stdioProbeTimeoutMs: Math.min(3_000, Math.ceil(settings.connectTimeoutMs / 2)),
    signal,
    answers: answersFor(name, entry),
    onListChanged: attempt.onListChanged,
    onLost: (reason) => attempt.onLost(held, reason),
  });
  held = holdConnection(connection, name, log);
  phase = 'list what it offers';
  try {
    const { knownPrompts } = attempt;
    let problem: string | undefined;
    const onProblem = (text: string): void => void (problem ??= text);
    const options = { server: name, serverId: entry.id, log, signal, knownPrompts, onProblem };
    const lists = await orAborted(readSurface(connection, options), signal);
    return { held, lists, problem };
  } catch (error) {
    await held.retire();
    throw error;
  }
};
