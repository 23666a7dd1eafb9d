/** Builds `packages/gantry/dist`: plain `tsc`, then the files that are no modules. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

rmSync(path('../packages/gantry/dist'), { recursive: true, force: true });
execFileSync(
  process.execPath,
  [path('../node_modules/typescript/bin/tsc'), '-p', path('../packages/gantry/tsconfig.build.json')],
  {
    stdio: 'inherit',
  },
);
