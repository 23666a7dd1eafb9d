import type { LocalGantry } from '../host/start-local.ts';
import type { Operation, RunOptions } from '../operations/operation.ts';
import type { NeededServers } from './await-servers.ts';
import type { CommandContext } from './command-context.ts';
import type { Settings } from './settings.ts';
import { loadSettings } from './settings.ts';
import { startOrInterrupted } from './start-or-interrupted.ts';

/** Who answers a command: a running gateway, or a Gantry in this process. */
export interface Gateway extends AsyncDisposable {
  /** Address of the running gateway; undefined when the command started one of its own. */
  readonly url: string | undefined;
  run<Input extends object, Output>(
    operation: Operation<Input, Output>,
    input: Input,
    options?: RunOptions,
  ): Promise<Output>;
}

/** What a command needs before its operation can run in this process. */
export interface OpenGatewayOptions {
  /** Servers that must have had their first attempt to connect; default all. */
  readonly needs?: NeededServers | undefined;
  /** As for {@link loadSettings}. */
  readonly mayMakeMcpFile?: boolean | undefined;
}

/** A gateway that runs elsewhere, and the token it may want. */
export interface GatewayAddress {
  readonly url: string;
  readonly token: string | undefined;
}

/**
 * Opens who answers: the gateway of `--url` or `GANTRY_URL`, else the one that owns the data folder, else a Gantry started
 * for this command.
 */
export const openGateway = async (context: CommandContext, options: OpenGatewayOptions = {}): Promise<Gateway> => {
  const named = namedGateway(context);
  if (named) return attach(context, named);
  const settings = await loadSettings(context, { mayMakeMcpFile: options.mayMakeMcpFile });
  const owner = await findOwner(settings);
  if (owner) return attach(context, owner);
  const local = await startLocal(context, settings);
  return inProcess(context, local, options.needs ?? 'all');
};

/** The gateway that owns the data folder now, when the one that was asked so far has gone; undefined where the address was given. */
export const findAgain = async (context: CommandContext): Promise<Gateway | undefined> => {
  if (namedGateway(context)) return undefined;
  const owner = await findOwner(await loadSettings(context));
  return owner && attach(context, owner);
};

/** Starts a Gantry in this process, for as long as the command runs. */
export const startLocal = async ({ host, io }: CommandContext, settings: Settings): Promise<LocalGantry> =>
  startOrInterrupted(
    host.startLocal(settings.config, {
      log: await settings.createLog(),
      cwd: io.cwd,
      env: io.env,
      configFile: settings.file,
    }),
    io,
  );

/** The gateway that flag or environment name. */
export const namedGateway = ({ io, flags }: CommandContext): GatewayAddress | undefined => {
  const url = flags.url ?? io.env['GANTRY_URL'];
  return url === undefined || url === '' ? undefined : { url: toAddress(url), token: io.env['GANTRY_TOKEN'] };
};

/** The gateway that owns the data folder and answers now. */
export const findOwner = async ({ config, paths }: Settings): Promise<GatewayAddress | undefined> => {
  const { findGateway } = await import('../host/gateway-lock.ts');
  const owner = await findGateway(paths.dataDir);
  return owner && { url: owner.url, token: config.serve.token };
};

const toAddress = (url: string): string => (/^[a-z]+:\/\//i.test(url) ? url : `http://${url}`).replace(/\/+$/, '');

const attach = (context: CommandContext, { url, token }: GatewayAddress): Gateway => ({
  url,
  run: async (operation, input, { signal = context.io.interrupted, onEvent } = {}) => {
    const { callOperation } = await import('../operations/http/client.ts');
    return callOperation(url, operation, input, { token, signal, onEvent });
  },
  [Symbol.asyncDispose]: async () => {},
});

const inProcess = ({ io }: CommandContext, local: LocalGantry, needs: NeededServers): Gateway => ({
  url: undefined,
  run: async (operation, input, options) => {
    const { parseInput } = await import('../operations/parse-input.ts');
    const checked = parseInput(operation, input);
    const { awaitServers } = await import('./await-servers.ts');
    await awaitServers(needs, local, io);
    return operation.handler(checked, local.deps, { signal: io.interrupted, ...options });
  },
  [Symbol.asyncDispose]: () => local[Symbol.asyncDispose](),
});
