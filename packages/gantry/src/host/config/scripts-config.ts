import * as z from 'zod';

/** Section `scripts`: running Python and JavaScript. */
export interface ScriptsConfig {
  readonly runner: 'auto' | 'sandbox' | 'landlock' | 'pyodide' | 'local';
  readonly allowLimitedIsolation: boolean;
  readonly packages: boolean;
  readonly packageIndexUrl?: string | undefined;
  readonly readSharedFolder: boolean;
  readonly maxTimeoutSeconds: number;
  readonly maxParallel: number;
  readonly warm: number;
}

const positive = z.number().int().positive();

/** Section `scripts`. */
export const scriptsConfig: z.ZodType<ScriptsConfig> = z.strictObject({
  runner: z
    .enum(['auto', 'sandbox', 'landlock', 'pyodide', 'local'])
    .default('auto')
    .describe('What runs Python: auto takes the strongest sandbox that works here; local is no sandbox at all.'),
  allowLimitedIsolation: z
    .boolean()
    .default(false)
    .describe('Lets auto fall back to Pyodide, whose isolation is limited, where no sandbox works.'),
  packages: z.boolean().default(true).describe('Lets scripts name packages, which are installed before they run.'),
  packageIndexUrl: z.url().optional().describe('Index to install packages from; default that of pip.'),
  readSharedFolder: z.boolean().default(true).describe('Lets scripts read the shared folder.'),
  maxTimeoutSeconds: positive.default(300).describe('The most a script may ask for.'),
  maxParallel: positive.default(4).describe('Python scripts at a time.'),
  warm: z.number().int().nonnegative().default(1).describe('Sandboxed interpreters that wait for the next script.'),
});
