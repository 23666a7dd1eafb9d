/** Running Python in a sandbox and JavaScript in an embedded engine: the plugin, and the runners it provides. */
export { scriptRunners, scripts } from './scripts/scripts.ts';
export type { ScriptRunners, ScriptsOptions } from './scripts/scripts.ts';
export type { ScriptRunner } from './scripts/runner.ts';
