import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Asks, CallContext, OnAsked } from '../../../tool/context.ts';
import { elicitationModes, knowsMode } from '../../wire/elicitation-modes.ts';
import type { Connection } from '../connection/open-connection.ts';
import { askingCapabilities } from '../connection/open-connection.ts';
import type { ElicitationPolicy } from '../elicitation/policy.ts';

/** The MCP client that made a call, as far as its server may ask it. */
export interface Peer {
  /** What it can be asked for; never empty. */
  readonly asks: Asks;
  /** Whether it can be asked this. */
  can(method: string, params: JsonObject): boolean;
  /** Asks it; throws what it answers as an error. */
  readonly ask: OnAsked;
}

/**
 * The client behind a call; undefined when the caller is no client, cannot be asked, or may not be: with the mode `off` a server is not even
 * told that it may ask for a form.
 */
export const peerOf = (
  { caller, asks }: Pick<CallContext, 'caller' | 'asks'>,
  policy: Pick<ElicitationPolicy, 'mode'>,
  ask: OnAsked | undefined,
): Peer | undefined => {
  if (caller !== 'client' || !asks || !ask) return undefined;
  const { elicitation: _forms, ...rest } = asks;
  const told: Asks = policy.mode === 'off' ? rest : asks;
  if (Object.keys(told).length === 0) return undefined;
  return {
    asks: told,
    can: (method, params) => {
      switch (method) {
        case 'elicitation/create':
          return told.elicitation !== undefined && knowsMode(told.elicitation, params['mode']);
        case 'sampling/createMessage':
          return told.sampling !== undefined && (!wantsTools(params) || Object.hasOwn(told.sampling, 'tools'));
        case 'roots/list':
          return told.roots !== undefined;
        default:
          return false;
      }
    },
    ask,
  };
};

/** What a server is told that this call's client can do: what the connection says, and what the client behind the call says. */
export const peerCapabilities = (
  { asks }: Pick<Peer, 'asks'>,
  connection: Pick<Connection, 'mayAsk' | 'maySample'>,
): ClientCapabilities => {
  const own = askingCapabilities(connection);
  const { elicitation, ...rest } = asks;
  const told = {
    ...own,
    ...rest,
    ...(elicitation && { elicitation: { ...own.elicitation, ...elicitationModes(elicitation) } }),
  };
  // Parsed JSON and the SDK's own type of it differ in what they call undefined.
  return told as ClientCapabilities;
};

const wantsTools = (params: JsonObject): boolean => Array.isArray(params['tools']) || isObject(params['toolChoice']);
