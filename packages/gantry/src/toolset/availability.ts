import type { CallContext } from '../tool/context.ts';
import type { ToolRegistration } from '../tool/registration.ts';

/** One step of the pipeline: says whether the tool passes for this caller. */
export type AvailabilityCheck = (registration: ToolRegistration, context: CallContext) => boolean;

/**
 * The checks in their order: what the tool says itself (or else its provider list), the model's capabilities, the
 * feature flag, the platform's permissions. What is unknown counts as missing.
 */
export const availabilityChecks: readonly AvailabilityCheck[] = [
  (registration, context) => registration.available?.(context) ?? providerAllowed(registration, context),
  ({ requires }, context) =>
    Object.entries(requires?.modelCapabilities ?? {}).every(
      ([flag, expected]) => (context.model?.capabilities?.[flag] ?? false) === expected,
    ),
  ({ requires }, context) =>
    requires?.featureFlag === undefined || context.features?.has(requires.featureFlag) === true,
  ({ requires }, { permissions }) =>
    permissions === undefined || (requires?.permissions ?? []).every((permission) => permissions.has(permission)),
];

// Vendor keys are lower-case here and as people write them elsewhere.
const providerAllowed = ({ requires }: ToolRegistration, context: CallContext): boolean => {
  const lists = requires?.providers;
  if (!lists) return true;
  const provider = context.model?.provider.toLowerCase();
  const named = (names: readonly string[]): boolean =>
    provider !== undefined && names.some((name) => name.toLowerCase() === provider);
  if (lists.deny && named(lists.deny)) return false;
  return lists.allow === undefined || named(lists.allow);
};
