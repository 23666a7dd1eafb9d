#!/usr/bin/env node
// A checkout runs its sources; the published package has only the build.
import { existsSync } from 'node:fs';
import module from 'node:module';

const [major] = process.versions.node.split('.').map(Number);
if (major < 24) {
  console.error(
    `gantry needs Node.js 24 or newer, and this is ${process.version}. In a checkout, run it with "npx gantry".`,
  );
  process.exit(2);
}
module.enableCompileCache?.();
const sources = new URL('../src/cli/main.ts', import.meta.url);
await import(existsSync(sources) ? sources.href : new URL('../dist/cli/main.js', import.meta.url).href);
