import type { Clock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { toModernResult, withoutNewer } from './generations.ts';
import type { Relayed } from './relayed.ts';
import { filtered, paramsOf, tellClient } from './relayed.ts';
import { startSilence } from './silence.ts';
import { callAsTask } from './tasks/call-as-task.ts';
import { needsTask } from './tasks/needs-task.ts';
import { overLink, resultOf } from './tasks/task-way.ts';

/**
 * The result of a request of a client of 2025 over the bridge's own connection, which all clients share: for programs of 2025. What such a
 * program wants to know it asks the bridge, which answers by policy.
 */
export const relayOlderOverLink = async (relayed: Relayed): Promise<JsonObject> =>
  filtered(relayed.target, relayed.method, await resultOverLink(relayed));

/** A request of a client of 2026 over the bridge's own connection, to a server of 2025. */
export const relayNewerOverLink = async (
  relayed: Relayed,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<JsonObject> => {
  const { target, method, ctx } = relayed;
  if (!needsTask(relayed)) return toModernResult(withoutNewer(filtered(target, method, await resultOverLink(relayed))));
  const call = callAsTask(overLink(target), paramsOf(relayed), {
    clock,
    mask: target.mask,
    onTrouble: (reason) => log.debug({ server: target.name, reason }, 'a message could not be passed on'),
  });
  using silence = startSilence(target, clock, ctx.mcpReq.signal);
  call.hear(() => silence.broken());
  return toModernResult(withoutNewer(await resultOf(call, silence.signal)));
};

const resultOverLink = async (relayed: Relayed): Promise<JsonObject> => {
  const { target, method, ctx } = relayed;
  const { _meta: meta, signal } = ctx.mcpReq;
  const tell = tellClient(relayed, false);
  const onProgress =
    meta?.progressToken === undefined
      ? undefined
      : (progress: JsonObject): void => tell({ method: 'notifications/progress', params: progress });
  const raw = await target.link.request(method, paramsOf(relayed), { signal, onProgress });
  return isObject(raw) ? (raw as JsonObject) : {};
};
