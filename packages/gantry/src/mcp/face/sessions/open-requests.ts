import type { RequestId, Transport } from '@modelcontextprotocol/server';
import type { LongCalls } from './long-calls.ts';

/** The requests of a session that its protocol server has not answered yet. Disposing forgets them. */
export interface OpenRequests extends Disposable {
  has(id: unknown): boolean;
  /** Tells the protocol server that its client has given a request up. */
  cancel(id: RequestId): void;
}

/** Watches what comes and goes over a transport; its protocol server has to be connected. */
export const watchRequests = (transport: Transport, longCalls: LongCalls | undefined): OpenRequests => {
  const open = new Map<unknown, Disposable | undefined>();
  const close = (id: unknown): void => {
    open.get(id)?.[Symbol.dispose]();
    open.delete(id);
  };
  const send = transport.send.bind(transport);
  const receive = transport.onmessage;
  transport.send = (message, options) => {
    if (!('method' in message)) close(message.id);
    return send(message, options);
  };
  transport.onmessage = (message, extra) => {
    if ('method' in message && 'id' in message) open.set(message.id, longCalls?.began());
    // One that was cancelled is not answered.
    else if ('method' in message && message.method === 'notifications/cancelled')
      close((message.params as { readonly requestId?: unknown } | undefined)?.requestId);
    receive?.(message, extra);
  };
  return {
    has: (id) => open.has(id),
    cancel: (id) => {
      if (open.has(id))
        transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    },
    [Symbol.dispose]: () => {
      for (const id of open.keys()) close(id);
    },
  };
};
