import { isObject } from '../kernel/json.ts';
import { isCredentialName } from './credential-name.ts';

/** What stands where a secret stood. */
export const secretMask = '***';

/**
 * Masks what looks like a secret in free text: bearer tokens, passwords in URLs, `password=…` and `"token": "…"` pairs, header lines,
 * well-known key prefixes, JWTs and PEM blocks. Linear in the length of the text.
 *
 * @param mask what stands in their place.
 */
export const scrubText = (text: string, mask: string = secretMask): string => {
  let scrubbed = text;
  for (const [shape, before, after] of secretShapes) scrubbed = scrubbed.replaceAll(shape, `${before}${mask}${after}`);
  return scrubbed.replaceAll(namedValue, (pair, before: string, name: string, between: string, value: string) =>
    !value.includes(mask) && isSecretPair(name, between, value)
      ? `${before}${name}${between}${maskValue(value, mask)}`
      : pair,
  );
};

/**
 * A copy of a value with the members of credential-named keys masked and every text scrubbed, at any depth. The value itself when it
 * holds no secret. Deeper than 64 levels everything is masked.
 */
export const scrubValue = (value: unknown): unknown => scrubLevel(value, 64);

const scrubLevel = (value: unknown, levelsLeft: number): unknown => {
  if (typeof value === 'string') return scrubText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (levelsLeft === 0) return secretMask;
  if (Array.isArray(value)) {
    const items = value.map((item) => scrubLevel(item, levelsLeft - 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isPlain(value)) return value;
  let changed = false;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => {
    const scrubbed = holdsSecret(key, member) ? secretMask : scrubLevel(member, levelsLeft - 1);
    changed ||= scrubbed !== member;
    return [key, scrubbed];
  });
  return changed ? Object.fromEntries(members) : value;
};

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return isObject(value) && (prototype === Object.prototype || prototype === null);
};

// A flag or a null tells nothing, and "password: false" is worth reading in a log.
const holdsSecret = (key: string, member: unknown): boolean =>
  member !== null && member !== undefined && typeof member !== 'boolean' && member !== '' && isCredentialName(key);

// Every repetition below is bounded or starts only where a word starts: no text makes a search go back over itself.
// Each with what stands before and behind the mask.
const secretShapes: readonly (readonly [shape: RegExp, before: string, after: string])[] = [
  [/-----BEGIN [A-Z0-9 ]{1,60}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,60}-----|$)/g, '', ''],
  [/((?<![\w+.-])[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/?#@:"'<>]{0,256}):[^\s/?#"'<>]{1,512}@/gi, '$1:', '@'],
  [/\b(bearer|basic|digest|token)([ \t]{1,4})(?=[^\s"']{0,200}\d)[\w.~+/=-]{8,}/gi, '$1$2', ''],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]{0,4096}){0,3}/g, '', ''],
  [/(?<![\w-])sk-[\w-]{16,}/g, '', ''],
  [/(?<![\w-])[spr]k_(?:live|test)_[A-Za-z0-9]{10,}/g, '', ''],
  [/(?<![\w-])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})/g, '', ''],
  [/(?<![\w-])(?:xox[a-z]|xapp)-[\w-]{8,}/g, '', ''],
  [/(?<![\w-])(?:AKIA|ASIA)[A-Z0-9]{16}(?![\w-])/g, '', ''],
  [/(?<![\w-])(?:AIza[\w-]{30,}|ya29\.[\w-]{20,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{20,})/g, '', ''],
  [/(?<![\w-])[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,45}/g, '', ''],
];

const namedValue =
  /(?<![\w-])(["']?)([A-Za-z][\w-]{1,60})(["']?[ \t]{0,4}[:=][ \t]{0,4})((?:Bearer|Basic|Digest|Token)[ \t]{1,4}[^\s"',;]{1,8192}|"[^"\n]{1,8192}"|'[^'\n]{1,8192}'|[^\s"',;&}\]]{1,8192})/gi;

/** Prose such as `Invalid token: expected "}"` stays readable: an unquoted name before a colon needs a value that looks like one. */
const isSecretPair = (name: string, between: string, value: string): boolean => {
  if (!isCredentialName(name)) return false;
  if (between.includes('=') || /["']/.test(between)) return true;
  return /^["']/.test(value) || headerName.test(name) || (value.length >= 8 && /\d/.test(value));
};
const headerName = /^(?:proxy-)?authorization$|^(?:set-)?cookie$|^x-|-key$/i;

const maskValue = (value: string, mask: string): string => {
  const quote = /^["']/.exec(value)?.[0] ?? '';
  return `${quote}${mask}${quote}`;
};
