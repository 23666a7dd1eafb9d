import type { RequestId, Transport } from '@modelcontextprotocol/server';
import type { LongCalls } from './long-calls.ts';
import { cancelledIn } from './session-signals.ts';

/** The requests of a session that its protocol server has not answered yet. Disposing forgets them. */
export interface OpenRequests extends Disposable {
  has(id: unknown): boolean;
  /** Tells the protocol server that its client has given a request up. */
  cancel(id: RequestId): void;
}

/** A transport that can end the stream on which a request is answered. */
type EndingTransport = Transport & { closeSSEStream(id: RequestId): void };

interface OpenRequest {
  readonly running: Disposable | undefined;
  /** The HTTP request that brought it, perhaps with others. */
  readonly broughtBy: Request | undefined;
}

/**
 * Watches what comes and goes over a transport; its protocol server has to be connected. A request that is cancelled is not answered, so
 * its stream is ended here: the SDK would leave it open, and with it whatever is held until it ends.
 */
export const watchRequests = (transport: EndingTransport, longCalls: LongCalls | undefined): OpenRequests => {
  const open = new Map<unknown, OpenRequest>();
  const close = (id: unknown): OpenRequest | undefined => {
    const one = open.get(id);
    one?.running?.[Symbol.dispose]();
    open.delete(id);
    return one;
  };
  const cancel = (id: RequestId, tell: () => void): void => {
    const one = close(id);
    tell();
    if (!one) return;
    const { broughtBy } = one;
    if ([...open.values()].some((other) => broughtBy !== undefined && other.broughtBy === broughtBy)) return;
    transport.closeSSEStream(id);
  };
  const send = transport.send.bind(transport);
  const receive = transport.onmessage;
  transport.send = (message, options) => {
    if (!('method' in message)) close(message.id);
    return send(message, options);
  };
  transport.onmessage = (message, extra) => {
    if ('method' in message && 'id' in message)
      open.set(message.id, { running: longCalls?.began(), broughtBy: extra?.request });
    const cancelled = cancelledIn(message);
    if (cancelled === undefined) receive?.(message, extra);
    else cancel(cancelled, () => receive?.(message, extra));
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
