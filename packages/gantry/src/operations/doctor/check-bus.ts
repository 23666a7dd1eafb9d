import { probeBroker } from '../../bus/rabbitmq/probe-broker.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { scriptsManagerName } from '../../scripts/remote/serve-scripts.ts';
import type { DoctorCheck } from './doctor-report.ts';

/** What is known of the bus. */
export interface BusFacts {
  /** The broker's URL, where one is configured. */
  readonly url: string | undefined;
  readonly prefix: string;
  /** Scripts are left to a scripts manager. */
  readonly needsScriptsManager: boolean;
  readonly clock: Clock;
  /** How long the broker may take. Default 5 s. */
  readonly waitMs?: number | undefined;
}

/** Whether the broker can be reached, and whether somebody runs scripts where that is left to others. */
export const checkBus = async ({
  url,
  prefix,
  needsScriptsManager,
  clock,
  waitMs = 5000,
}: BusFacts): Promise<DoctorCheck> => {
  const name = 'broker';
  if (url === undefined) return { name, state: 'ok', message: 'none; everything is in one process' };
  try {
    const { address, consumers } = await probeBroker({
      url,
      prefix,
      subscriptionName: scriptsManagerName,
      waitMs,
      clock,
    });
    const managers = `${consumers} scripts manager${consumers === 1 ? '' : 's'}`;
    if (consumers > 0 || !needsScriptsManager) return { name, state: 'ok', message: `${address}, ${managers}` };
    return {
      name,
      state: 'warning',
      message: `${address}, but no scripts manager, so Python scripts wait in vain`,
      fix: 'Start one with the same "bus" settings: gantry serve --role scripts-manager.',
    };
  } catch (error) {
    if (!GantryError.is(error) || error.code !== 'bus_unreachable')
      return { name, state: 'broken', message: messageOf(error), fix: 'Do what the message says.' };
    const { address, reason = 'it does not answer' } = error.details;
    return {
      name,
      state: 'broken',
      message: `${String(address)} cannot be reached: ${String(reason)}`,
      fix: 'Start the broker, or correct "bus": {"url": …} (GANTRY_BUS__URL).',
    };
  }
};
