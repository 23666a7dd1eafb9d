import { web } from '../../../packages/gantry/src/web/web.ts';
import type { WebOptions } from '../../../packages/gantry/src/web/web.ts';
import type { LocalGantry } from './local-gantry.ts';
import { startGantry } from './local-gantry.ts';

/** A Gantry with the web tools, to which the loopback is open. */
export const startWebGantry = (options: WebOptions = {}): Promise<LocalGantry> =>
  startGantry(() => [web({ env: { RUN_ENV: 'development' }, ...options })]);
