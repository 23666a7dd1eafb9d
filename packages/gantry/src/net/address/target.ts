import { flattenText } from '../../text/flatten.ts';
import { isBadPort } from './bad-ports.ts';
import { isAddress } from './classify-address.ts';
import { withoutTrailingDots } from './host-rules.ts';
import { refusal } from './refusal.ts';

/** A URL that may be asked for, if its host may. */
export interface Target {
  /** The parsed URL, its host without trailing dots. */
  readonly url: URL;
  /** Host name (lower case, A-labels) or address without brackets. */
  readonly host: string;
  readonly port: number;
  /** True when the host is an address, so nobody is asked for it. */
  readonly literal: boolean;
}

/**
 * Parses a URL that a model, a page or a server named. Only what the parser made of it counts: it turns decimal, octal, hexadecimal,
 * short, full-width and percent-encoded hosts into plain ones.
 *
 * @throws {GantryError} `address_refused` for anything but http and https, for user names and passwords in it, and for ports of the
 * fetch standard's block list.
 */
export const parseTarget = (text: string | URL, base?: URL): Target => {
  const parsed = URL.parse(text, base);
  if (parsed === null) throw refusal('INVALID_FORMAT', `"${show(text)}" is not an absolute URL.`);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    const scheme = show(parsed.protocol.slice(0, -1));
    throw refusal('INVALID_PROTOCOL', `Only http and https URLs are fetched, not "${scheme}".`);
  }
  // The URL is not shown: what stands before the "@" may be a secret.
  if (parsed.username !== '' || parsed.password !== '') {
    const message = `The URL of "${parsed.hostname}" holds a user name or password before the "@"; leave it out.`;
    throw refusal('INVALID_FORMAT', message, { host: parsed.hostname });
  }
  const url = new URL(parsed);
  const bare = withoutTrailingDots(parsed.hostname);
  if (bare !== parsed.hostname) url.hostname = bare;
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  if (host !== withoutTrailingDots(host) || host === '' || host.includes('..') || host.length > 253)
    throw refusal('INVALID_FORMAT', `"${show(parsed.hostname)}" is not a host name.`);
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (isBadPort(port)) {
    const message = `Port ${port} of "${host}" is not fetched: it belongs to another protocol than HTTP.`;
    throw refusal('PORT_BLOCKED', message, { host, details: { port } });
  }
  return { url, host, port, literal: isAddress(host) };
};

const show = (text: string | URL): string => flattenText(String(text).replace(/\/\/[^/@]*@/, '//'));
