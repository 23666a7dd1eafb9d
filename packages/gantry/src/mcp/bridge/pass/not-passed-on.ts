import { GantryError } from '../../../kernel/errors.ts';
import { toConnectionFault } from '../connection/connection-errors.ts';
import { brokenOff, brokenOffWithin } from '../connection/lost-answer.ts';
import type { ManagedServer } from '../server/managed-server.ts';

/**
 * The error of a request that was to be passed on to a server: `server_unreachable`, and not worth another try as it stands where it may
 * have been carried out.
 */
export const notPassedOn = (
  server: Pick<ManagedServer, 'name' | 'maskSecrets'>,
  error: unknown,
  {
    isRequest,
    hadSession = false,
  }: {
    /** Whether it asks the server to do something, as the stream that is only listened to does not. */
    readonly isRequest: boolean;
    readonly hadSession?: boolean | undefined;
  },
): GantryError => {
  const { name } = server;
  const fault = toConnectionFault(error, { hadSession, mask: server.maskSecrets });
  const unreachable = (message: string, retry?: 'never'): GantryError =>
    new GantryError('server_unreachable', message, { details: { name }, retry, cause: error });
  switch (fault.kind) {
    case 'disconnected':
      if (!isRequest || fault.notRun) return unreachable(`Server "${name}" cannot be reached: ${fault.message}`);
      return fault.status === undefined
        ? unreachable(brokenOff(name, fault.message), 'never')
        : unreachable(`Server "${name}": ${fault.message}`);
    case 'cut_off':
      return unreachable(fault.message, 'never');
    default:
      return unreachable(`Server "${name}": ${fault.message}`);
  }
};

/** Why the rest of an answer did not come. */
export interface LostAnswer {
  readonly error: GantryError;
  /** Whether the connection broke; else what came cannot be read. */
  readonly isBroken: boolean;
}

/** The error of a request that was passed on, and whose answer broke off behind its head or cannot be unpacked; not worth another try as it stands. */
export const lostAnswerOf = (server: Pick<ManagedServer, 'name' | 'maskSecrets'>, error: unknown): LostAnswer => {
  const { name } = server;
  const { kind, message } = toConnectionFault(error, { hadSession: false, mask: server.maskSecrets });
  const isBroken = kind === 'disconnected';
  const said = isBroken
    ? brokenOffWithin(name, message)
    : `Server "${name}" answered, but ${message}; whether the request was carried out is unknown.`;
  return {
    isBroken,
    error: new GantryError(isBroken ? 'server_unreachable' : 'execution_failed', said, {
      details: { name },
      retry: 'never',
      cause: error,
    }),
  };
};
