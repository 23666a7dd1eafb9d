import { GantryError } from '../../kernel/errors.ts';

/** True for a URL that names a broker: `amqp://` or `amqps://`, whose parts can be decoded. */
export const isBrokerUrl = (url: string): boolean => {
  const parsed = URL.parse(url);
  return (
    parsed !== null &&
    /^amqps?:$/.test(parsed.protocol) &&
    parsed.hostname !== '' &&
    [parsed.username, parsed.password, parsed.pathname].every(isDecodable)
  );
};

/**
 * The address of a broker as it may be shown: without user, password and options.
 * @throws {GantryError} `config_invalid` when it is none. The message does not repeat the URL.
 */
export const shownAddress = (url: string): string => {
  const parsed = URL.parse(url);
  if (parsed !== null && isBrokerUrl(url))
    return `${parsed.protocol}//${parsed.host}${parsed.pathname === '/' ? '' : parsed.pathname}`;
  throw new GantryError(
    'config_invalid',
    'The address of the broker is no AMQP URL; write it as amqp://user:password@host:5672/vhost, or amqps:// for TLS.',
    { details: { path: 'bus.url' } },
  );
};

// The client decodes these parts, and its error would hold them.
const isDecodable = (part: string): boolean => {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
};
