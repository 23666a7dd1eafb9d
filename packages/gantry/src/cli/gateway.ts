import type { LocalGantry } from '../host/start-local.ts';
import { orAborted } from '../kernel/abort.ts';
import type { Operation, RunOptions } from '../operations/operation.ts';
import type { OperationDeps } from '../operations/operation-deps.ts';
import type { CommandContext } from './command-context.ts';
import type { Settings } from './settings.ts';
import { loadSettings } from './settings.ts';

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
  /** Whether the servers must have had their first attempt to connect; default they must. */
  readonly needsServers?: ((deps: OperationDeps) => boolean) | undefined;
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
  const settings = await loadSettings(context);
  const owner = await findOwner(settings);
  if (owner) return attach(context, owner);
  const local = await startLocal(context, settings);
  return inProcess(context, local, options.needsServers ?? (() => true));
};

/** Starts a Gantry in this process, for as long as the command runs. */
export const startLocal = async ({ host, io }: CommandContext, settings: Settings): Promise<LocalGantry> =>
  host.startLocal(settings.config, { log: await settings.createLog(), cwd: io.cwd, env: io.env });

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
  run: async (operation, input) => {
    const { callOperation } = await import('../operations/http/client.ts');
    return callOperation(url, operation, input, { token, signal: context.io.interrupted });
  },
  [Symbol.asyncDispose]: async () => {},
});

const inProcess = (
  context: CommandContext,
  local: LocalGantry,
  needsServers: (deps: OperationDeps) => boolean,
): Gateway => ({
  url: undefined,
  run: async (operation, input, options) => {
    const { parseInput } = await import('../operations/parse-input.ts');
    const checked = parseInput(operation, input);
    if (needsServers(local.deps)) await untilReady(context, local);
    return operation.handler(checked, local.deps, { ...options, signal: context.io.interrupted });
  },
  [Symbol.asyncDispose]: () => local[Symbol.asyncDispose](),
});

const quietMs = 1000;

/** Waits for the servers' first attempts, and says so when that takes a while. */
export const untilReady = async ({ io }: CommandContext, local: LocalGantry): Promise<void> => {
  const timer = io.clock.startTimer(quietMs, () => void io.stderr.write('Waiting for MCP servers to connect …\n'));
  try {
    await orAborted(local.ready(), io.interrupted);
  } finally {
    timer.stop();
  }
};
