import type { Bus } from '../bus/bus.ts';
import { createInProcessBus } from '../bus/in-process-bus.ts';
import type { RabbitBus } from '../bus/rabbitmq/create-rabbit-bus.ts';
import { createSplitBus } from '../bus/split-bus.ts';
import type { Clock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import type { BusConfig } from './config/bus-config.ts';

/** What a bus is opened with. */
export interface OpenBusOptions {
  readonly agent: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * What leaves the process where there is a broker: scripts, which roles of their own run. Each agent process keeps its servers, sessions
 * and tools to itself.
 */
const sharedFamilies: ReadonlySet<string> = new Set(['script']);

/**
 * Opens the bus of a gateway: inside this process, and with `bus.url` over the broker for what other roles do. It does not wait for the
 * broker.
 * @throws {GantryError} `package_missing`, `config_invalid`.
 */
export const openBus = async (config: BusConfig, options: OpenBusOptions): Promise<Bus> => {
  const local = createInProcessBus({ log: options.log });
  if (config.url === undefined) return local;
  return createSplitBus({ local, shared: await openSharedBus(config, options), families: sharedFamilies });
};

/**
 * Opens the bus over the broker, for a role that has nothing else.
 * @throws {GantryError} `config_invalid` where there is none; `package_missing`.
 */
export const openSharedBus = async (config: BusConfig, options: OpenBusOptions): Promise<RabbitBus> => {
  const { url, waitSeconds, ...settings } = config;
  if (url === undefined)
    throw new GantryError(
      'config_invalid',
      'This role works over a broker, and none is configured: set "bus": {"url": "amqp://user:password@host:5672"} or GANTRY_BUS__URL.',
      { details: { path: 'bus.url' } },
    );
  // Only those who have a broker load what speaks to it.
  const { createRabbitBus } = await import('../bus/rabbitmq/create-rabbit-bus.ts');
  return createRabbitBus({ ...settings, ...options, url, waitMs: waitSeconds * 1000 });
};
