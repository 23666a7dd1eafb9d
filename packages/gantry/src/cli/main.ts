import { enableCompileCache, flushCompileCache } from 'node:module';
import { systemClock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import type { CliHost } from './cli-host.ts';
import { startSmall, staySmall } from './keep-small.ts';
import { useOneHttpLibrary } from './one-http-library.ts';
import { runCli } from './run-cli.ts';

enableCompileCache();

/** What a service needs for its start. */
const loaded = async <Module>(load: () => Promise<Module>): Promise<Module> => {
  await useOneHttpLibrary();
  const module = await load();
  // What was compiled is stored under the settings that the next start will load it with.
  flushCompileCache();
  startSmall();
  return module;
};

const started = async <Running>(starting: Promise<Running>): Promise<Running> => {
  const running = await starting;
  staySmall();
  return running;
};

const host: CliHost = {
  startLocal: async (...given) => (await import('../host/start-local.ts')).startLocal(...given),
  serveBrowser: async (...given) =>
    started((await loaded(() => import('../host/serve-browser.ts'))).serveBrowser(...given)),
  serveScriptsManager: async (...given) =>
    started((await loaded(() => import('../host/serve-scripts-manager.ts'))).serveScriptsManager(...given)),
  serveGateway: async (...given) =>
    started((await loaded(() => import('../host/serve-gateway.ts'))).serveGateway(...given)),
};

const interruption = new AbortController();
const interrupt = (signal: NodeJS.Signals): void => {
  // The first signal asks for an orderly stop; who sends a second one does not want to wait for it.
  if (interruption.signal.aborted) process.exit(130);
  interruption.abort(new GantryError('cancelled', 'Interrupted.', { details: { signal } }));
};
process.on('SIGINT', interrupt);
process.on('SIGTERM', interrupt);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader went away ("gantry tools list | head"): there is nobody to print for.
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

// Timers of the clock do not keep a process alive, but a command that waits for one has not ended.
const awake = setInterval(() => {}, 2 ** 31 - 1);
const { stdout, stderr, stdin, env } = process;
const code = await runCli(
  process.argv.slice(2),
  { stdout, stderr, stdin, env, cwd: process.cwd(), clock: systemClock, interrupted: interruption.signal },
  host,
);
clearInterval(awake);
// What a foreign library keeps open must not hold the process; standard output is flushed first.
stdout.write('', () => process.exit(code));
