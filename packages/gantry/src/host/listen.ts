import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GantryError } from '../kernel/errors.ts';

/**
 * Lets a server listen, and gives its port.
 * @param port 0 takes any free one.
 * @throws {GantryError} `port_in_use`.
 */
export const listenOn = async (server: Server, host: string, port: number): Promise<number> => {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new GantryError(
      'port_in_use',
      `Port ${port} on ${host} is in use by another program; choose another with --port.`,
      { details: { host, port }, cause: error },
    );
  }
  return (server.address() as AddressInfo).port;
};
