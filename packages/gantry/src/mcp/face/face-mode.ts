import { GantryError } from '../../kernel/errors.ts';
import type { WrapperMode } from '../../tool/context.ts';

/** How the tools of servers are offered to a client: `?mode=` of its address. */
export type FaceMode = WrapperMode;

const modes: readonly string[] = ['auto', 'off', 'eager', 'lazy', 'pinned'] satisfies readonly FaceMode[];

/**
 * Reads the mode; absent is the one given as usual.
 * @throws {GantryError} `usage` naming the modes there are.
 */
export const parseFaceMode = (text: string | null | undefined, usual: FaceMode): FaceMode => {
  if (text === null || text === undefined) return usual;
  if (modes.includes(text)) return text as FaceMode;
  const message = `There is no mode "${text.slice(0, 40)}"; use one of ${modes.join(', ')}.`;
  throw new GantryError('usage', message, { details: { flag: 'mode' } });
};
