import type { AssembleOptions } from '../host/assemble.ts';
import type { GantryConfig } from '../host/config/config-schema.ts';
import type { RunningBrowser } from '../host/serve-browser.ts';
import type { RunningScriptsManager } from '../host/serve-scripts-manager.ts';
import type { RunningGateway } from '../host/serve-gateway.ts';
import type { LocalGantry } from '../host/start-local.ts';

/** How commands start what they need. The real one loads the composition when it is asked for the first time. */
export interface CliHost {
  startLocal(config: GantryConfig, options: AssembleOptions): Promise<LocalGantry>;
  serveBrowser(config: GantryConfig, options: AssembleOptions & { readonly port: number }): Promise<RunningBrowser>;
  serveScriptsManager(
    config: GantryConfig,
    options: AssembleOptions & { readonly port: number },
  ): Promise<RunningScriptsManager>;
  serveGateway(config: GantryConfig, options: AssembleOptions): Promise<RunningGateway>;
}
