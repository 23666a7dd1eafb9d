/**
 * Builds `packages/gantry/dist`: plain `tsc` for the library, then one bundle of the command, so that `gantry serve` reads a
 * handful of files instead of a thousand (`docs/decisions/0002-the-command-is-bundled.md`).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { chunkGroups } from './chunks.ts';
import { leanBuiltins } from './lean-builtins.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const dist = path('../packages/gantry/dist');

rmSync(dist, { recursive: true, force: true });
execFileSync(
  process.execPath,
  [path('../node_modules/typescript/bin/tsc'), '-p', path('../packages/gantry/tsconfig.build.json')],
  {
    stdio: 'inherit',
  },
);

/**
 * Packages that find files of their own by their place, or are loaded only when they are used. pino does so for its transports alone, which our log
 * has none of.
 */
const separate =
  /^(?:ai|@ai-sdk\/.+|pg|playwright-core|rabbitmq-client|@kubernetes\/client-node|@opentelemetry\/(?:exporter-prometheus|sdk-metrics))$/;

const bundle = await rolldown({
  plugins: [leanBuiltins],
  input: join(dist, 'cli/main.js'),
  platform: 'node',
  resolve: { mainFields: ['module', 'main'], alias: { undici$: path('undici-parts.js') } },
  external: separate,
});
const { output } = await bundle.write({
  dir: join(dist, 'bundle'),
  format: 'esm',
  chunkFileNames: '[name]-[hash].js',
  codeSplitting: { groups: chunkGroups(dist) },
  minify: { mangle: false, compress: false, codegen: { removeWhitespace: true, asciiOnly: true } },
});
await bundle.close();

// Relative to dist/, a chunk stands as deep as the file it came from, so addresses relative to import.meta.url hold.
rmSync(join(dist, 'cli'), { recursive: true });
renameSync(join(dist, 'bundle'), join(dist, 'cli'));

/** The folder of the package that a module belongs to. */
const packageOf = (module: string): string | undefined => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1];

const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
const packages = new Set(modules.map(packageOf).filter((folder) => folder !== undefined));
const notices = [...packages].toSorted().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license']
    .map((candidate) => join(folder, candidate))
    .find(existsSync);
  return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(file, 'utf8').trim()}\n`;
});
writeFileSync(
  join(dist, 'cli/THIRD-PARTY-NOTICES'),
  `The command of this package contains parts of the following packages.\n\n${notices.join(`\n${'-'.repeat(72)}\n\n`)}`,
);
