import type { Server } from '@modelcontextprotocol/server';

const listening = new WeakMap<Server, number>();

/** The client of this protocol server has opened a stream for what belongs to no request; dispose it when the stream has ended. */
export const holdStanding = (server: Server): Disposable => {
  listening.set(server, (listening.get(server) ?? 0) + 1);
  return { [Symbol.dispose]: () => void listening.set(server, (listening.get(server) ?? 1) - 1) };
};

/** Whether it has one open. */
export const isListening = (server: Server): boolean => (listening.get(server) ?? 0) > 0;
