import type { CallContext, Tier, WrapperMode } from '../../../tool/context.ts';

/** How the tools of servers are offered to the agent's own runs. */
export interface ModeSettings {
  /** Default `pinned`. */
  readonly wrapperMode?: WrapperMode | undefined;
  /** For single tiers, in place of `wrapperMode`. */
  readonly wrapperModeByTier?: Readonly<Partial<Record<Tier, WrapperMode>>> | undefined;
}

/** A mode that says what is listed. */
export type SettledMode = Exclude<WrapperMode, 'auto'>;

/** What the modes say about a caller. */
export interface Modes {
  /** The caller's mode; `auto` still depends on how much he can see. */
  modeFor(context: CallContext): WrapperMode;
  /** Whether what this caller finds, opens or calls is kept for him. */
  activates(context: CallContext): boolean;
  /** Whether the servers that this caller calls are kept for him. */
  pins(context: CallContext): boolean;
}

const tiers: readonly Tier[] = ['low', 'balanced', 'high'];

/**
 * Reads the settings. A run's mode is that of its tier. A client chooses for itself, and gets `auto` otherwise; so does a model that runs on
 * no tier, unless the operator wants typed tools always or never. An operator sees everything.
 */
export const createModes = ({ wrapperMode = 'pinned', wrapperModeByTier = {} }: ModeSettings): Modes => {
  const ofTier = (tier: Tier): WrapperMode => wrapperModeByTier[tier] ?? wrapperMode;
  const used = new Set<WrapperMode>(tiers.map(ofTier));
  const withoutTier = wrapperMode === 'off' || wrapperMode === 'eager' ? wrapperMode : 'auto';
  const keepsActivations = used.has('lazy') || used.has('pinned') || used.has('auto');
  const keepsPins = used.has('pinned') || used.has('auto');

  const modeFor = ({ caller, tier, wrapperMode: wanted }: CallContext): WrapperMode => {
    if (caller === 'operator') return 'eager';
    if (caller === 'passthrough') return 'off';
    if (wanted) return wanted;
    if (caller === 'client') return 'auto';
    return tier ? ofTier(tier) : withoutTier;
  };
  // A run may change its tier, and then has what it found; a client that lists everything has no use for it.
  const mayKeep = (context: CallContext, kept: boolean, modes: readonly WrapperMode[]): boolean =>
    context.caller === 'client' || context.wrapperMode !== undefined ? modes.includes(modeFor(context)) : kept;

  return {
    modeFor,
    activates: (context) => mayKeep(context, keepsActivations, ['lazy', 'pinned', 'auto']),
    pins: (context) => mayKeep(context, keepsPins, ['pinned', 'auto']),
  };
};
