import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { BrokerLink } from './broker-link.ts';

const refusals: ReadonlySet<unknown> = new Set([
  'NACK',
  'ACCESS_REFUSED',
  'PRECONDITION_FAILED',
  'NOT_ALLOWED',
  'RESOURCE_LOCKED',
  'RESOURCE_ERROR',
]);

/** True when the broker said no, which it will say again. Everything else is a connection or channel that was lost, or never came about. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && error.name !== 'AMQPConnectionError' && refusals.has((error as { code?: unknown }).code);

/** What the broker refused, as an error that says so. */
export const refused = (link: BrokerLink, what: string, error: unknown): GantryError =>
  new GantryError('execution_failed', `The broker at ${link.address} refused ${what}: ${messageOf(error)}.`, {
    cause: error,
  });

/** That the broker was away for too long. */
export const unreachable = (link: BrokerLink, waitMs: number): GantryError => {
  const { address, isConnected, problem } = link;
  const within = `within ${Math.round(waitMs / 1000)} s`;
  const what = isConnected
    ? `The broker at ${address} has not taken the message ${within}.`
    : `The broker at ${address} could not be reached ${within}${problem === undefined ? '' : ` (${problem})`}.`;
  return new GantryError(
    'bus_unreachable',
    `${what} Try again later; an operator sees to it that it runs and that "bus": {"url": …} is right ("gantry doctor" checks it).`,
    { details: { address, timeoutMs: waitMs, reason: problem } },
  );
};

/** That the bus is disposed of, or about to be. */
export const stopped = (): GantryError => new GantryError('stopped', 'The bus has stopped and takes no more messages.');
