import { invisible } from './fold-text.ts';

const longest = 2_048;

/**
 * The address of a page that a question wants a person to open (`mode: "url"`), in the one form in which every reader takes it for the same;
 * undefined for one that may not be shown to a person: anything but https (http on loopback), with a user or password, which could pass for
 * the host, or with characters that readers skip or turn into others.
 */
export const pageAddress = (text: unknown): string | undefined => {
  if (typeof text !== 'string' || text.length > longest || !/^https?:\/\/[^/]/i.test(text)) return undefined;
  if (/[\s\p{Cc}\p{Z}\\]/u.test(text) || text.search(invisible) !== -1) return undefined;
  const url = URL.parse(text);
  if (!url || /^[^/]*\/\/[^/?#]*@/.test(text)) return undefined;
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return undefined;
  return url.href.length <= longest ? url.href : undefined;
};

/** Whether an address is written in that form already; the slash behind a bare host may be missing. */
export const isPlainAddress = (text: unknown): boolean => {
  const href = pageAddress(text);
  return href !== undefined && (text === href || text === href.replace(/^(https?:\/\/[^/?#]+)\/(?=[?#]|$)/, '$1'));
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
