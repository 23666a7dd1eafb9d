import type { Clock } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { KeyValue } from '../../../store/key-value.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Modes } from './modes.ts';

/** A typed tool that a session made callable. It holds as long as the tool is what it was. */
export interface Activation {
  readonly name: string;
  readonly server: string;
  /** Fingerprint of the tool. */
  readonly print: string;
}

/** What one session found, opened and called. Replaced, never changed. */
export interface Surface {
  /** In the order in which they were first activated. */
  readonly activations: readonly Activation[];
  /** Servers that were called; the most recent last. */
  readonly pins: readonly string[];
}

/** The typed tools that sessions made their own. No session sees another's. */
export interface Surfaces {
  /** Whether anything that this caller finds, opens or calls is kept. */
  keeps(context: CallContext): boolean;
  /** Of this caller's session, if it has any; counts as use. */
  get(context: CallContext): Surface | undefined;
  /** Takes over what another process stored about this caller. */
  prepare(context: CallContext): Promise<void>;
  /**
   * Makes tools the session's own; beyond the limit the oldest go, and one that is there keeps its place. Durable when it resolves.
   * @returns false when nothing is kept for this caller.
   */
  activate(context: CallContext, activations: readonly Activation[]): Promise<boolean>;
  /** Makes the server the session's most recent. */
  pin(context: CallContext, server: string): Promise<void>;
  /** Forgets activations, and pins of servers, in every session. */
  evict(stale: {
    readonly activation: (activation: Activation) => boolean;
    readonly server: (name: string) => boolean;
  }): void;
  /** Calls the listener when a session's tools changed. Returns the way to stop it. */
  onChange(listener: () => void): () => void;
}

/** How much is kept for how long. */
export interface SurfaceLimits {
  /** Default 40. */
  readonly maxActivatedToolsPerSession?: number | undefined;
  /** Default 3. */
  readonly maxPinnedServersPerSession?: number | undefined;
  /** A session that nobody used for so long is forgotten. Default 720. */
  readonly activationIdleTimeoutMinutes?: number | undefined;
}

interface Held {
  surface: Surface;
  usedAtMs: number;
  /** When the store last got it; 0 = never. */
  storedAtMs: number;
}

const nothing: Surface = Object.freeze({ activations: [], pins: [] });
const sweepEveryMs = 10 * 60_000;
// The others are read from the store again.
const maxHeld = 5_000;

/** Makes an empty set of surfaces over a store, where another process that the session reaches finds them. */
export const createSurfaces = (
  options: SurfaceLimits & {
    readonly modes: Modes;
    readonly keyValue: KeyValue<Surface>;
    readonly clock: Clock;
    readonly log: Log;
  },
): Surfaces => {
  const { modes, keyValue, clock, log } = options;
  const { maxActivatedToolsPerSession = 40, maxPinnedServersPerSession = 3 } = options;
  const idleMs = (options.activationIdleTimeoutMinutes ?? 720) * 60_000;
  // Least recently used first.
  const held = new Map<string, Held>();
  const listeners = new Set<() => void>();
  let sweptAtMs = clock.nowMs();

  const changed = (): void => {
    for (const listener of listeners) listener();
  };

  const find = (key: string): Held | undefined => {
    const nowMs = clock.nowMs();
    if (nowMs - sweptAtMs >= sweepEveryMs) {
      sweptAtMs = nowMs;
      for (const [other, { usedAtMs }] of held) if (nowMs - usedAtMs >= idleMs) held.delete(other);
      void keyValue
        .sweep()
        .catch((error: unknown) =>
          log.warn({ reason: messageOf(error) }, 'the space of forgotten sessions could not be freed'),
        );
    }
    const found = held.get(key);
    if (found && nowMs - found.usedAtMs >= idleMs) {
      held.delete(key);
      return undefined;
    }
    if (found) {
      found.usedAtMs = nowMs;
      held.delete(key);
      held.set(key, found);
    }
    return found;
  };

  const store = async (key: string, entry: Held): Promise<void> => {
    entry.storedAtMs = clock.nowMs();
    try {
      await keyValue.set(key, entry.surface, { ttlMs: idleMs });
    } catch (error) {
      log.warn(
        { session: key, reason: messageOf(error) },
        "a session's tools could not be stored; they are kept until the stop",
      );
    }
  };

  const load = async (key: string): Promise<Held | undefined> => {
    const known = find(key);
    try {
      const stored = await keyValue.get(key);
      if (stored && stored.writtenAtMs > (known?.storedAtMs ?? 0))
        held.set(key, { surface: stored.value, usedAtMs: clock.nowMs(), storedAtMs: stored.writtenAtMs });
    } catch (error) {
      log.warn({ session: key, reason: messageOf(error) }, "a session's tools could not be read from the store");
    }
    return find(key);
  };

  const change = async (key: string, next: (before: Surface) => Surface): Promise<void> => {
    const entry = (await load(key)) ?? { surface: nothing, usedAtMs: clock.nowMs(), storedAtMs: 0 };
    const before = entry.surface;
    const surface = next(before);
    if (surface === before) return;
    entry.surface = surface;
    held.set(key, entry);
    for (const oldest of held.keys()) {
      if (held.size <= maxHeld) break;
      held.delete(oldest);
    }
    changed();
    // Which of its servers was called last is not worth a write.
    const isSame =
      surface.activations === before.activations && surface.pins.every((name) => before.pins.includes(name));
    if (!isSame) await store(key, entry);
  };

  const keeps = (context: CallContext): boolean => keyOf(context) !== undefined && modes.activates(context);

  return {
    keeps,
    get: (context) => {
      const key = keyOf(context);
      return key === undefined ? undefined : find(key)?.surface;
    },
    prepare: async (context) => {
      const key = keyOf(context);
      const entry = key === undefined ? undefined : await load(key);
      // Use keeps a session alive in the store too.
      if (key !== undefined && entry && clock.nowMs() - entry.storedAtMs > idleMs / 12) await store(key, entry);
    },
    activate: async (context, wanted) => {
      const key = keyOf(context);
      if (key === undefined || wanted.length === 0 || !keeps(context)) return false;
      await change(key, (before) => {
        const fresh = wanted
          .slice(0, maxActivatedToolsPerSession)
          .filter((one) => !before.activations.some((known) => known.name === one.name && known.print === one.print));
        if (fresh.length === 0) return before;
        const replaced = new Set(fresh.map(({ name }) => name));
        const kept = before.activations.filter(({ name }) => !replaced.has(name));
        return { ...before, activations: [...kept, ...fresh].slice(-maxActivatedToolsPerSession) };
      });
      return true;
    },
    pin: async (context, server) => {
      const key = keyOf(context);
      if (key === undefined || !modes.pins(context) || find(key)?.surface.pins.at(-1) === server) return;
      await change(key, (before) => {
        if (before.pins.at(-1) === server) return before;
        const others = before.pins.filter((name) => name !== server);
        return { ...before, pins: [...others, server].slice(-maxPinnedServersPerSession) };
      });
    },
    evict: (stale) => {
      let isChanged = false;
      for (const entry of held.values()) {
        const activations = entry.surface.activations.filter((activation) => !stale.activation(activation));
        const pins = entry.surface.pins.filter((name) => !stale.server(name));
        if (activations.length + pins.length === entry.surface.activations.length + entry.surface.pins.length) continue;
        entry.surface = { activations, pins };
        isChanged = true;
      }
      if (isChanged) changed();
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};

/** Where a caller's tools are kept: a client's by its connection, else by its identity; every other's by its run's namespace. */
const keyOf = ({ caller, connection, client, namespace }: CallContext): string | undefined => {
  if (caller !== 'client') return namespace;
  if (connection !== undefined) return `connection/${connection}`;
  return client === undefined ? undefined : `client/${client}`;
};
