import type { JsonObject } from '../../../kernel/json.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import type { Sealing } from '../pass/carried-state.ts';

/** What a session was opened with: enough to serve it where it was not opened. */
export interface SessionOpening {
  /** Names the session inside Gantry. */
  readonly id: string;
  readonly openedAtMs: number;
  /** Parameters of its `initialize`: revision, capabilities, name and version of the client. */
  readonly params: JsonObject;
}

// Ids of sessions that are passed through to a server begin with the id of a key, which has no such sign.
const marker = '~';
// Ids travel in a header of every request.
const longestToken = 4_000;

/** Whether an id of a session was made here, and not for one that is passed through. */
export const isSessionToken = (id: string): boolean => !id.includes('.') || id.startsWith(marker);

/**
 * The id a client gets for its session, from which any process with the same keys can serve it; undefined where the client said so much
 * about itself that no header holds it.
 */
export const sealSession = (
  sealing: Sealing,
  opening: SessionOpening,
  client: string | undefined,
): string | undefined => {
  const { protocolVersion, capabilities, clientInfo } = opening.params;
  const { name, version } = isObject(clientInfo) ? clientInfo : {};
  const kept = { ...opening, params: { protocolVersion, capabilities, clientInfo: { name, version } } };
  const token = `${marker}${sealing.seal(JSON.stringify(kept), contextOf(client))}`;
  return token.length > longestToken ? undefined : token;
};

/** Opens what {@link sealSession} made for this client; undefined for anything else. */
export const openSession = (
  sealing: Sealing,
  token: string,
  client: string | undefined,
): SessionOpening | undefined => {
  if (!token.startsWith(marker)) return undefined;
  let text: string;
  try {
    text = sealing.open(token.slice(marker.length), contextOf(client));
  } catch {
    // Changed, of another client, or under a key that is gone: the session does not exist.
    return undefined;
  }
  const parsed = parseJson(text);
  return parsed.ok ? (parsed.value as SessionOpening) : undefined;
};

const contextOf = (client: string | undefined): string => `session/${client ?? ''}`;
