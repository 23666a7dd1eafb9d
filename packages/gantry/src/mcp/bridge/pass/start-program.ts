import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { messageOf } from '../../../kernel/errors.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import { withSecretsMasked } from '../config/entry-secrets.ts';
import type { TransportOptions } from '../connection/create-transport.ts';
import { createTransport } from '../connection/create-transport.ts';
import type { ManagedServer } from '../server/managed-server.ts';

/** Makes what runs a server's program for one client alone: as its entry says, beside the one that all others share. */
export const createStartProgram =
  (
    { name, entry, maskSecrets }: Pick<ManagedServer, 'name' | 'entry' | 'maskSecrets'>,
    options: TransportOptions,
  ): NonNullable<PassTarget['startProgram']> =>
  async (hears) => {
    const log = withSecretsMasked(options.log, maskSecrets);
    const transport = await createTransport('stdio', name, entry, { ...options, log });
    transport.onmessage = (message) => hears.message(message);
    transport.onerror = (error) => log.debug({ server: name, reason: messageOf(error) }, 'a program reported an error');
    transport.onclose = () => hears.ended();
    await transport.start();
    return {
      send: (message) => transport.send(message as unknown as JSONRPCMessage),
      [Symbol.asyncDispose]: () => transport.close(),
    };
  };
