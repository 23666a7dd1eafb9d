/** Makes the addresses of a page's links absolute; `undefined` for those that lead nowhere a reader could go. */
export type ResolveLink = (href: string) => string | undefined;

/** Resolves against the page's own base. Links within the page stay as they are, targets with a script or data in them are gone. */
export const createLinkResolver = (base: URL | undefined): ResolveLink => {
  const known = new Map<string, string | undefined>();
  return (href) => {
    const text = href.trim();
    if (text === '' || text.length > maxUrlChars) return undefined;
    if (text.startsWith('#')) return text.length === 1 ? undefined : escapeTarget(text);
    if (known.has(text)) return known.get(text);
    const url = URL.parse(text, base);
    const target = url !== null && schemes.has(url.protocol) ? escapeTarget(url.href) : undefined;
    known.set(text, target);
    return target;
  };
};

/** The address that relative links of a page start from: its `base` element, itself relative to where the page was found. */
export const baseOf = (pageUrl: string, baseHref: string | undefined): URL | undefined => {
  const page = URL.parse(pageUrl) ?? undefined;
  if (baseHref === undefined) return page;
  const base = URL.parse(baseHref.trim(), page);
  return base !== null && schemes.has(base.protocol) ? base : page;
};

const maxUrlChars = 4_096;
const schemes = new Set(['http:', 'https:', 'mailto:', 'tel:', 'ftp:']);
const escapeTarget = (url: string): string =>
  /[()\s<>]/.test(url)
    ? url.replaceAll(
        /[()<>]|\s/g,
        (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
      )
    : url;
