import type { Clock } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PassLink } from '../../wire/pass-port.ts';
import { toModernResult, withoutNewer } from './generations.ts';
import type { OlderClient } from './relay-to-newer.ts';
import type { Relayed } from './relayed.ts';
import { filtered, paramsOf, tellClient } from './relayed.ts';
import { isBelow } from './shared-log.ts';
import { startSilence, withinSilence } from './silence.ts';
import { callAsTask } from './tasks/call-as-task.ts';
import { needsTask } from './tasks/needs-task.ts';
import { overLink, resultOf } from './tasks/task-way.ts';

/**
 * The result of a request of a client of 2025 over the bridge's own connection, which all clients share: for programs of 2025. What such a
 * program wants to know it asks the bridge, which answers by policy. Where the client wants to hear the log, it does so while the program
 * works for it alone.
 */
export const relayOlderOverLink = async (relayed: Relayed, client: OlderClient, clock: Clock): Promise<JsonObject> => {
  const { target, method } = relayed;
  const { server, logLevel } = client;
  const result =
    logLevel === undefined || !target.link.startExchange
      ? await resultOverLink(relayed)
      : await resultWithLog(relayed, target.link.startExchange, { server, logLevel, clock });
  return filtered(target, method, result);
};

const resultWithLog = async (
  relayed: Relayed,
  startExchange: NonNullable<PassLink['startExchange']>,
  { server, logLevel, clock }: { readonly server: object; readonly logLevel: string; readonly clock: Clock },
): Promise<JsonObject> => {
  const { target, client, method, ctx } = relayed;
  const id = newId();
  const sent = paramsOf(relayed);
  const meta = isObject(sent['_meta']) ? sent['_meta'] : {};
  const wantsProgress = ctx.mcpReq._meta?.progressToken !== undefined;
  const params = wantsProgress ? { ...sent, _meta: { ...meta, progressToken: id } } : sent;
  const exchange = withinSilence(startExchange({ id, method, params, client, logsFor: server }), target, clock);
  const tell = tellClient(relayed, true);
  exchange.hear((notice) => {
    if (notice.method !== 'notifications/message' || !isBelow(notice.params, logLevel)) tell(notice);
  });
  return await resultOf(exchange, ctx.mcpReq.signal);
};

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
