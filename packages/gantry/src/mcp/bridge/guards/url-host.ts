import type { Json } from '../../../kernel/json.ts';
import type { ArgGuardHandler } from './arg-guard.ts';
import {
  argumentsNamed,
  parseFlag,
  parseOptions,
  parseTexts,
  refuseOthers,
  shownList,
  shownValue,
  wrongOptions,
} from './guard-options.ts';

/**
 * Lets only http and https URLs of certain hosts pass: `args` are the arguments that hold a URL or a list of URLs, `allowedHosts` the
 * hosts (`docs.example.com`, or `*.example.com` for all hosts below it), `requireArgs` (default false) rejects a call without them.
 */
export const urlHost: ArgGuardHandler = (given) => {
  const options = parseOptions(given);
  refuseOthers(options, ['args', 'allowedHosts', 'requireArgs']);
  const names = parseTexts(options, 'args');
  const hosts = parseTexts(options, 'allowedHosts');
  const matchers = hosts.map(toMatcher);
  const isRequired = parseFlag(options, 'requireArgs');
  const allowed = `Allowed are http and https URLs of ${shownList(hosts)}.`;

  return async ({ args }) => {
    for (const name of names) {
      const values = argumentsNamed(args, name);
      if (values.length === 0 && isRequired) return `Argument "${name}" is missing. ${allowed}`;
      for (const [key, value] of values) {
        const urls: readonly Json[] = Array.isArray(value) ? (value as readonly Json[]) : [value];
        for (const url of urls) {
          const reason = problemOf(url, matchers);
          if (reason !== undefined) return `Argument "${key}" is ${shownValue(url)}, which ${reason}. ${allowed}`;
        }
      }
    }
    return undefined;
  };
};

type Matcher = (host: string) => boolean;

const problemOf = (value: Json, matchers: readonly Matcher[]): string | undefined => {
  if (typeof value !== 'string' || value.trim() === '') return 'is not a URL (a text)';
  // Programs do not agree on what these mean, so the server could read another host than the one that was checked.
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(value)) return 'holds spaces, backslashes or control characters';
  if (!URL.canParse(value)) return 'is not a whole URL (it must begin with "https://" or "http://")';
  const url = new URL(value);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `is of the kind "${url.protocol}"`;
  if (!/^https?:\/\/[^/]/i.test(value)) return 'is not a whole URL (it must begin with "https://" or "http://")';
  if (/^[^:]+:\/\/[^/?#]*@/.test(value)) return 'holds a user name';
  const host = url.hostname.replace(/\.$/, '');
  return matchers.some((matches) => matches(host)) ? undefined : `leads to the host "${host}"`;
};

const toMatcher = (pattern: string): Matcher => {
  const isWildcard = pattern.startsWith('*.');
  const host = isWildcard ? pattern.slice(2) : pattern;
  const url = `http://${host}/`;
  if (!/^(?:[^\s/:@*?#\\[\]]+|\[[0-9a-f:.]+\])$/i.test(host) || !URL.canParse(url))
    throw wrongOptions(
      `the allowed host ${shownValue(pattern)} is none; write "docs.example.com", or "*.example.com" for all hosts below it, without scheme, port or path.`,
    );
  const plain = new URL(url).hostname.replace(/\.$/, '');
  return isWildcard ? (candidate) => candidate.endsWith(`.${plain}`) : (candidate) => candidate === plain;
};
