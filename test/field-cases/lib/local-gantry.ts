import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gantry, GantryConfig, Log, LogFacts, Outcome, Plugin, Tool } from 'gantry';
import { createGantry, loadConfig, outcomeText } from 'gantry';
import type { JsonObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { CallFacts } from './judge-call.ts';

/** One line of the log. */
export interface LogLine {
  readonly level: keyof Log;
  readonly message: string;
  readonly facts: LogFacts;
}

/** A running Gantry in a folder of its own, and its log. */
export interface LocalGantry extends AsyncDisposable {
  readonly gantry: Gantry;
  readonly folder: string;
  readonly log: readonly LogLine[];
}

/** Starts a Gantry that keeps nothing, with these plugins and settings. */
export const startGantry = async (
  plugins: (folder: string) => readonly Plugin[] | Promise<readonly Plugin[]>,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<LocalGantry> => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-field-'));
  const flags = { sharedDir: join(folder, 'shared'), ...settings };
  const { config }: { config: GantryConfig } = await loadConfig({ flags, env: {}, cwd: folder });
  const lines: LogLine[] = [];
  const record =
    (level: keyof Log) =>
    (facts: LogFacts, message: string): void =>
      void lines.push({ level, message, facts });
  const log: Log = { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') };
  const gantry = await createGantry({ dataDir: ':memory:', config, log, cwd: folder })
    .use(...(await plugins(folder)))
    .start();
  return {
    gantry,
    folder,
    log: lines,
    [Symbol.asyncDispose]: async () => {
      await gantry[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Registers these tools. */
export const offering = (tools: readonly Tool[]): Plugin => ({
  name: 'field-case',
  setup: ({ tools: registry }) => {
    for (const { registration, executor } of tools) registry.register(registration, executor);
  },
});

/** Calls a tool as a model does and says how it went; `received` is emptied first and filled by the tool. */
export const callAsModel = async (
  gantry: Gantry,
  call: { name: string; arguments: unknown; id?: string | undefined; namespace?: string | undefined },
  received: { tool: string; args: JsonObject }[],
): Promise<CallFacts & { readonly outcome: Outcome }> => {
  received.length = 0;
  const { name, id, namespace = 'session/field' } = call;
  const written = call.arguments as string | JsonObject | undefined;
  const outcome = await gantry.call(name, written, { caller: 'model', id, namespace });
  return {
    outcome,
    isError: outcome.status === 'failed',
    text: outcomeText(outcome),
    received: [...received],
    written: typeof written === 'string' ? written : JSON.stringify(written ?? ''),
  };
};
