import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { orAborted } from '../../../kernel/abort.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import { withSecretsMasked } from '../config/entry-secrets.ts';
import type { TransportOptions } from '../connection/create-transport.ts';
import { isSseError } from '../connection/connection-errors.ts';
import { createTransport } from '../connection/create-transport.ts';
import { flatMessage } from '../connection/flat-message.ts';
import { serverGone } from '../server/connect-error.ts';
import type { ManagedServer } from '../server/managed-server.ts';
import { notPassedOn } from './not-passed-on.ts';

/**
 * Makes what runs a server's program for one client alone, as its entry says, beside the one that all others share. A server over SSE is
 * connected once more: it has a session for each connection, as a program has one for each run.
 */
export const createStartProgram =
  (
    kind: 'stdio' | 'sse',
    server: Pick<ManagedServer, 'name' | 'entry' | 'isGone' | 'maskSecrets'>,
    options: TransportOptions,
  ): NonNullable<PassTarget['startProgram']> =>
  async (hears, signal) => {
    const { name, entry, maskSecrets } = server;
    if (server.isGone) throw serverGone(name);
    const log = withSecretsMasked(options.log, maskSecrets);
    const transport = await createTransport(kind, name, entry, { ...options, log });
    transport.onmessage = (message) => {
      try {
        const flat = kind === 'sse' ? flatMessage(message, name) : message;
        if (flat) hears.message(flat);
      } catch (error) {
        log.warn({ server: name, reason: messageOf(error) }, 'a message of a program could not be passed on');
      }
    };
    transport.onerror = (error) => {
      log.debug({ server: name, reason: messageOf(error) }, 'a program reported an error');
      // A stream that is opened anew would be a session that nobody has initialised.
      if (kind === 'sse' && isSseError(error)) void transport.close();
    };
    transport.onclose = () => hears.ended();
    try {
      await orAborted(transport.start(), signal);
    } catch (error) {
      await transport.close();
      throw GantryError.is(error) ? error : notPassedOn(server, error, { isRequest: false });
    }
    return {
      send: (message) => transport.send(message as unknown as JSONRPCMessage),
      [Symbol.asyncDispose]: () => transport.close(),
    };
  };
