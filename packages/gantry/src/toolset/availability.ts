import type { CallContext, PlatformPermissions } from '../tool/context.ts';
import type { ToolRegistration } from '../tool/registration.ts';

/** One step of the pipeline: says whether the tool passes for this caller. */
export type AvailabilityCheck = (registration: ToolRegistration, context: CallContext) => boolean;

/** Functions of search engines that servers of old setups offer under these names; they are for `web_search`, never for a model. */
const engineFunctions: ReadonlySet<string> = new Set(['web-search', 'iask-search', 'monica-search', 'felo-search']);

/**
 * The checks in their order: no function of an engine; what the tool says itself (or else its provider list), the model's capabilities, the
 * feature flag, the platform's permissions. What is unknown counts as missing.
 */
export const availabilityChecks: readonly AvailabilityCheck[] = [
  ({ name }, { caller }) => caller !== 'model' || !engineFunctions.has(name),
  (registration, context) => {
    const said: unknown = registration.available?.(context);
    // A promise, say, is no yes.
    return said === undefined ? providerAllowed(registration, context) : said === true;
  },
  ({ requires }, context) =>
    Object.entries(requires?.modelCapabilities ?? {}).every(
      ([flag, expected]) => (context.model?.capabilities?.[flag] ?? false) === expected,
    ),
  ({ requires }, context) =>
    requires?.featureFlag === undefined || context.features?.has(requires.featureFlag) === true,
  ({ requires }, { permissions }) => (requires?.permissions ?? []).every((needed) => isGranted(needed, permissions)),
];

/** Permissions that go by another name in a thread: Discord lets somebody write in a channel and not in its threads, and the other way round. */
const inThreads: Readonly<Record<string, string>> = { SEND_MESSAGES: 'SEND_MESSAGES_IN_THREADS' };

const isGranted = (needed: string, permissions: PlatformPermissions | undefined): boolean => {
  if (permissions === undefined) return true;
  if (permissions === 'unreadable') return false;
  return permissions.granted.includes(permissions.isThread ? (inThreads[needed] ?? needed) : needed);
};

/** Whether the turn's model is of a provider that the tool is for. Vendor keys compare without regard to case. */
export const providerAllowed = ({ requires }: ToolRegistration, context: CallContext): boolean => {
  const lists = requires?.providers;
  if (!lists) return true;
  const provider = context.model?.provider.toLowerCase();
  const named = (names: readonly string[]): boolean =>
    provider !== undefined && names.some((name) => name.toLowerCase() === provider);
  if (lists.deny && named(lists.deny)) return false;
  return lists.allow === undefined || named(lists.allow);
};
