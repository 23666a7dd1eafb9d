import { abortReason, delay } from '../kernel/abort.ts';
import type { CliIo } from './cli-io.ts';
import { untilInterrupted } from './until-interrupted.ts';

const patienceMs = 2000;

/**
 * Settles like the start of something. When the user interrupts the command meanwhile, the start gets 2 s to come to an end, so that what
 * has begun can be stopped in order; after that it is given up and the reason of the interruption is thrown.
 */
export const startOrInterrupted = <T>(
  starting: Promise<T>,
  { clock, interrupted }: Pick<CliIo, 'clock' | 'interrupted'>,
): Promise<T> => {
  const givenUp = async (): Promise<never> => {
    await untilInterrupted(interrupted);
    await delay(clock, patienceMs);
    throw abortReason(interrupted);
  };
  return Promise.race([starting, givenUp()]);
};
