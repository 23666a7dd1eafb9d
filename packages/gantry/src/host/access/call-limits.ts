import type { Clock } from '../../kernel/clock.ts';
import type { AdmitCall } from '../../mcp/face/admit-call.ts';
import type { CompiledRules } from './client-rules.ts';

interface Counted {
  /** Calls that may still be made at once; refilled with time. */
  tokens: number;
  refilledAtMs: number;
  running: number;
}

// Clients come and go, and their names with them.
const mostClients = 10_000;

/** Counts the calls of each client against its rule: a token bucket of a minute, and how many run. */
export const createCallLimits = (rules: CompiledRules, clock: Clock): AdmitCall => {
  const clients = new Map<string, Counted>();

  const counted = (client: string, perMinute: number): Counted => {
    const known = clients.get(client);
    if (known) return known;
    if (clients.size >= mostClients)
      for (const [name, { running }] of clients)
        if (running === 0) {
          clients.delete(name);
          break;
        }
    const fresh = { tokens: perMinute, refilledAtMs: clock.elapsedMs(), running: 0 };
    clients.set(client, fresh);
    return fresh;
  };

  return (client) => {
    const { callsPerMinute, maxConcurrentCalls } = rules.of(client);
    if (callsPerMinute === undefined && maxConcurrentCalls === undefined) return nothing;
    const perMinute = callsPerMinute ?? Infinity;
    const state = counted(client ?? '', perMinute);
    if (maxConcurrentCalls !== undefined && state.running >= maxConcurrentCalls)
      return {
        refusal: `${state.running} of your calls run already, which is the most; wait for one to end.`,
        retryAfterS: 1,
      };
    if (perMinute !== Infinity) {
      const nowMs = clock.elapsedMs();
      state.tokens = Math.min(perMinute, state.tokens + ((nowMs - state.refilledAtMs) * perMinute) / 60_000);
      state.refilledAtMs = nowMs;
      if (state.tokens < 1) {
        const retryAfterS = Math.ceil(((1 - state.tokens) * 60) / perMinute);
        return { refusal: `You may make ${perMinute} calls a minute; try again in ${retryAfterS} s.`, retryAfterS };
      }
      state.tokens -= 1;
    }
    state.running += 1;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        state.running -= 1;
      },
    };
  };
};

const nothing: Disposable = { [Symbol.dispose]: () => {} };
