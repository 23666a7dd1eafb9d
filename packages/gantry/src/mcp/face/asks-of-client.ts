import type { JsonObject } from '../../kernel/json.ts';
import type { Asks } from '../../tool/context.ts';
import { saysInMeta, saysOfOlder } from '../wire/sessions/client-says.ts';

/** What a client of 2025 can be asked for, by the capabilities of its handshake; undefined when that is nothing. */
export const askedOfOlder = (capabilities: object | undefined): Asks | undefined =>
  capabilities && toAsks(saysOfOlder(capabilities as JsonObject, undefined, undefined).capabilities);

/** What a client of 2026 can be asked for, by the `_meta` of its request; undefined when that is nothing. */
export const askedInMeta = (meta: object | undefined): Asks | undefined =>
  meta && toAsks(saysInMeta(meta as Readonly<Record<string, unknown>>).capabilities);

const toAsks = (capabilities: JsonObject): Asks | undefined =>
  Object.keys(capabilities).length > 0 ? capabilities : undefined;
