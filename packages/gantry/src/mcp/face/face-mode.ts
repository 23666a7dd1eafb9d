import { GantryError } from '../../kernel/errors.ts';

/** How the tools of servers are offered to a client: `?mode=` of its address. */
export type FaceMode = 'auto' | 'off' | 'eager' | 'lazy' | 'pinned';

const modes: readonly string[] = ['auto', 'off', 'eager', 'lazy', 'pinned'] satisfies readonly FaceMode[];

/**
 * Reads the mode; absent is `auto`.
 * @throws {GantryError} `usage` naming the modes there are.
 */
export const parseFaceMode = (text: string | null | undefined): FaceMode => {
  const value = text ?? 'auto';
  if (modes.includes(value)) return value as FaceMode;
  const message = `There is no mode "${value.slice(0, 40)}"; use one of ${modes.join(', ')}.`;
  throw new GantryError('usage', message, { details: { flag: 'mode' } });
};
