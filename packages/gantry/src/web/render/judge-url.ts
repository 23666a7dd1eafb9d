import { orAborted } from '../../kernel/abort.ts';
import type { ResolvePinned } from '../../net/address/resolve-pinned.ts';
import { parseTarget } from '../../net/address/target.ts';
import type { VetRules } from '../../net/address/vet.ts';
import { vetAddresses, vetHostName } from '../../net/address/vet.ts';

/**
 * Judges a URL without asking for it.
 *
 * @throws {GantryError} `address_refused`.
 */
export type JudgeUrl = (url: string, signal?: AbortSignal) => Promise<void>;

/** Makes a judge that sees the addresses which the browser's connections will be judged by. */
export const createJudgeUrl =
  (rules: VetRules, resolve: ResolvePinned): JudgeUrl =>
  async (url, signal) => {
    const { host, port, literal } = parseTarget(url);
    if (!literal) vetHostName(host, rules);
    const resolved = literal ? [host] : resolve(host);
    vetAddresses(
      host,
      port,
      await (signal && resolved instanceof Promise ? orAborted(resolved, signal) : resolved),
      rules,
    );
  };
