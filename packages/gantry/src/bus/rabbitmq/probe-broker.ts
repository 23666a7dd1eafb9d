import { abortReason, orAborted, startDeadline } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { GantryError } from '../../kernel/errors.ts';
import { silentLog } from '../../kernel/log.ts';
import { unreachable } from './broker-fault.ts';
import { openBrokerLink } from './broker-link.ts';

/** What a look at a broker found. */
export interface BrokerProbe {
  /** Without user and password. */
  readonly address: string;
  /** How many serve the queue that was asked about. */
  readonly consumers: number;
}

const retryMs = { first: 200, longest: 1000 };

/**
 * Connects to a broker once, and counts those who serve a subscription name.
 * @throws {GantryError} `bus_unreachable` with the reason, `package_missing`, `config_invalid`.
 */
export const probeBroker = async (options: {
  readonly url: string;
  readonly prefix: string;
  readonly subscriptionName: string;
  readonly waitMs: number;
  readonly clock: Clock;
}): Promise<BrokerProbe> => {
  const { url, prefix, subscriptionName, waitMs, clock } = options;
  await using link = await openBrokerLink({ url, name: 'gantry doctor', log: silentLog, clock, waitMs, retryMs });
  const { address } = link;
  const onExpiry = (): GantryError => unreachable(link, waitMs);
  using deadline = startDeadline(clock, waitMs, { onExpiry, keepsAlive: true });
  const { signal } = deadline;
  try {
    const channel = await orAborted(link.openChannel(), signal);
    const queue = `${prefix}.${subscriptionName}`;
    const { consumerCount } = await orAborted(channel.queueDeclare({ queue, passive: true }), signal);
    await channel.close();
    return { address, consumers: consumerCount };
  } catch (error) {
    if (signal.aborted) throw abortReason(signal);
    if ((error as { code?: unknown }).code === 'NOT_FOUND') return { address, consumers: 0 };
    throw unreachable(link, waitMs);
  }
};
