import type { Clock } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { toModernResult, withoutNewer } from './generations.ts';
import type { OlderClient } from './relay-to-newer.ts';
import type { Relayed } from './relayed.ts';
import { filtered, ownerOf, paramsOf, tellClient } from './relayed.ts';
import { isBelow } from './shared-log.ts';
import { startSilence, withinSilence } from './silence.ts';
import { callAsTask } from './tasks/call-as-task.ts';
import { cancelUnheard, hearLateTask } from './tasks/hear-late-task.ts';
import { needsTask } from './tasks/needs-task.ts';
import { overLink, resultOf } from './tasks/task-way.ts';

/**
 * The result of a request of a client of 2025 over the bridge's own connection, which all clients share: for programs of 2025. What such a
 * program wants to know it asks the bridge, which answers by policy.
 */
export const relayOlderOverLink = async (
  relayed: Relayed,
  { server, logLevel }: OlderClient,
  clock: Clock,
): Promise<JsonObject> => {
  const { target, method, params, ctx } = relayed;
  const { signal } = ctx.mcpReq;
  const owner = ownerOf(relayed, server);
  using late = isObject(params['task']) ? hearLateTask(clock, signal) : undefined;
  const result = await resultOverLink(relayed, { owner, logLevel, clock, signal: late?.signal });
  if (late) await cancelUnheard(overLink(target), result, { clock, signal });
  return filtered(target, method, result);
};

/** A request of a client of 2026 over the bridge's own connection, to a server of 2025. */
export const relayNewerOverLink = async (
  relayed: Relayed,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<JsonObject> => {
  const { target, method, ctx } = relayed;
  if (!needsTask(relayed)) {
    const result = await resultOverLink(relayed, { owner: ownerOf(relayed, ctx), clock });
    return toModernResult(withoutNewer(filtered(target, method, result)));
  }
  const call = callAsTask(overLink(target), paramsOf(relayed), {
    clock,
    mask: target.mask,
    onTrouble: (reason) => log.debug({ server: target.name, reason }, 'a message could not be passed on'),
  });
  using silence = startSilence(target, clock, ctx.mcpReq.signal);
  call.hear(() => silence.broken());
  return toModernResult(withoutNewer(await resultOf(call, silence.signal)));
};

const resultOverLink = async (
  relayed: Relayed,
  {
    owner,
    logLevel,
    clock,
    signal = relayed.ctx.mcpReq.signal,
  }: {
    readonly owner: unknown;
    readonly logLevel?: string | undefined;
    readonly clock: Clock;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<JsonObject> => {
  const { target, client, method, ctx } = relayed;
  const { link } = target;
  const { _meta: meta } = ctx.mcpReq;
  const wantsProgress = meta?.progressToken !== undefined;
  const tell = tellClient(relayed, logLevel !== undefined);
  const sent = paramsOf(relayed);
  if (!link.startExchange) {
    const onProgress = (progress: JsonObject): void => tell({ method: 'notifications/progress', params: progress });
    const raw = await link.request(method, sent, { signal, onProgress: wantsProgress ? onProgress : undefined });
    return isObject(raw) ? (raw as JsonObject) : {};
  }
  const id = newId();
  const given = isObject(sent['_meta']) ? sent['_meta'] : {};
  const params = wantsProgress ? { ...sent, _meta: { ...given, progressToken: id } } : sent;
  const request = { id, method, params, client, owner, wantsLog: logLevel !== undefined };
  const exchange = withinSilence(link.startExchange(request), target, clock);
  exchange.hear((notice) => {
    if (logLevel === undefined || !isBelow(notice, logLevel)) tell(notice);
  });
  return await resultOf(exchange, signal);
};
