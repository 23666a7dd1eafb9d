import { fileURLToPath } from 'node:url';
import { outcomeText } from 'gantry';
import type { Plan } from '../../fixtures/stdio-player.ts';
import type { ServedGantry } from './served-gantry.ts';

/** The entry of a program that plays a plan. */
export const playerEntry = (plan: Plan): Readonly<Record<string, unknown>> => ({
  command: process.execPath,
  args: [fileURLToPath(new URL('../../fixtures/stdio-player.ts', import.meta.url)), JSON.stringify(plan)],
});

/** What a playing program has seen so far. */
export interface Seen {
  readonly seen: readonly {
    readonly id?: string | number;
    readonly method?: string;
    readonly result?: unknown;
    readonly error?: { readonly code: number };
    readonly params?: {
      readonly capabilities?: Readonly<Record<string, unknown>>;
      readonly name?: string;
      readonly requestId?: string | number;
      readonly reason?: string;
      readonly _meta?: { readonly progressToken?: string | number };
    };
  }[];
  /** How often its tools were listed, and the most listings that ran at once. */
  readonly listings: number;
  readonly mostParallel: number;
}

/** Asks a playing program what it has seen. */
export const askSeen = async ({ gantry }: ServedGantry, server: string): Promise<Seen> =>
  JSON.parse(outcomeText(await gantry.call(`${server}__seen`))) as Seen;
