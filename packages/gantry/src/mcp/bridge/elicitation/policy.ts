import type { Json } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import { createBlockReader } from './read-block.ts';

/** How questions of a server are answered. */
export interface ElicitationPolicy {
  /** `auto` answers; `decline` refuses all; `off` does not even offer to answer; `handback` gives them to the calling agent. */
  readonly mode: 'auto' | 'decline' | 'off' | 'handback';
  /** Questions answered in one call; 0 answers none. */
  readonly maxPerCall: number;
  /** The operator's answers by field name, in any case. They win over every responder. */
  readonly defaults: Readonly<Record<string, Json>>;
  /** Field names, in any case, that are refused beside those that look like credentials. */
  readonly deniedFields: readonly string[];
  /** Inside the budget of the call; 0 or less sets no limit of its own. */
  readonly responderTimeoutMs: number;
  /** Absent: the host's default. A name that is not registered, such as `''`, answers from `defaults` only. */
  readonly responder: string | undefined;
  /** How long a question that was handed back stays open. */
  readonly handbackTtlMinutes: number;
}

const modes = ['auto', 'decline', 'off', 'handback'] as const;

/** The responder that reads a conversation; a server has it only when its own block names it. */
export const conversationResponderName = 'conversation';

/**
 * Reads an `elicitation` block (absent or `null`: all defaults). Never fails: what cannot be read narrows what is answered, and gives a
 * warning. In the `default` scope, which also servers get that a model registered, `handback` acts as `auto` and the responder
 * `conversation` is refused, so only defaults answer.
 *
 * @param options.server named in the warnings.
 */
export const parseElicitationPolicy = (
  block: unknown,
  options: { readonly scope: 'server' | 'default'; readonly server?: string | undefined },
): { readonly policy: ElicitationPolicy; readonly warnings: readonly string[] } => {
  const { scope, server } = options;
  const where =
    scope === 'server' ? `The elicitation block of server "${server ?? ''}"` : 'The default elicitation policy';
  const warnings: string[] = [];
  const warn = (problem: string): void => void warnings.push(`${where}: ${problem}`);
  const isReadable = block === undefined || block === null || isObject(block);
  if (!isReadable) warn('it must be an object; all questions are declined.');
  const read = createBlockReader(isReadable ? (block ?? {}) : {}, warn);

  let mode = read.word('mode', modes, { absent: 'auto', wrong: 'decline' });
  if (mode === 'handback' && scope === 'default') {
    mode = 'auto';
    warn('"handback" needs a block of the server\'s own; it acts as "auto" here.');
  }
  const deniedFields = read.names('deniedFields');
  const policy: ElicitationPolicy = {
    // Nobody knows any more what was to be refused.
    mode: !isReadable || deniedFields === undefined ? 'decline' : mode,
    maxPerCall: Math.max(0, Math.floor(read.number('maxPerCall', { absent: 3, wrong: 0 }))),
    defaults: read.record('defaults'),
    deniedFields: deniedFields ?? [],
    responderTimeoutMs: read.number('responderTimeoutMs', { absent: 20_000, wrong: 20_000 }),
    responder: responderOf(read.text('responder'), scope, warn),
    handbackTtlMinutes: read.number('handbackTtlMinutes', { absent: 30, wrong: 30, isPositive: true }),
  };
  read.warnOfOthers();
  return { policy, warnings };
};

/**
 * The policy of an entry: its own block replaces the default policy, and nothing is merged. An entry that a model registered always gets
 * the default. Warnings of the block are {@link parseElicitationPolicy}'s to give.
 */
export const policyOf = (
  entry: Pick<ServerEntry, 'elicitation' | 'origin'>,
  defaults: ElicitationPolicy,
): ElicitationPolicy =>
  entry.origin === 'agent' || entry.elicitation === undefined
    ? defaults
    : parseElicitationPolicy(entry.elicitation, { scope: 'server' }).policy;

const responderOf = (
  name: string | undefined,
  scope: 'server' | 'default',
  warn: (problem: string) => void,
): string | undefined => {
  if (scope === 'server' || name?.toLowerCase() !== conversationResponderName) return name;
  warn('"conversation" needs a block of the server\'s own; only "defaults" answer here.');
  return '';
};
