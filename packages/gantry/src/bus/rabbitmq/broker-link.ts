import { Socket } from 'node:net';
import type * as Rabbit from 'rabbitmq-client';
import { delay } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { shownAddress } from './broker-url.ts';

/** A message as the broker delivers it. */
export interface BrokerMessage {
  readonly deliveryTag: number;
  readonly routingKey: string;
  /** True when it was given to somebody before who did not settle it. */
  readonly redelivered: boolean;
  readonly contentType?: string | undefined;
  readonly messageId?: string | undefined;
  readonly type?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly replyTo?: string | undefined;
  /** Epoch seconds. */
  readonly timestamp?: number | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  /** Parsed where it is JSON and says so, else bytes or text. */
  readonly body: unknown;
}

/** Where a message goes, and what travels beside its body. */
export interface BrokerEnvelope {
  readonly exchange: string;
  readonly routingKey: string;
  readonly durable: true;
  readonly contentType: string;
  readonly messageId: string;
  readonly type: string;
  readonly correlationId?: string;
  readonly replyTo?: string;
  readonly timestamp: number;
  /** How long it may wait in a queue, milliseconds. */
  readonly expiration?: string;
  readonly headers: Record<string, string>;
}

/** What is used of a channel. One that was closed is never opened again. */
export interface BrokerChannel {
  readonly active: boolean;
  confirmSelect(): Promise<void>;
  exchangeDeclare(params: { exchange: string; type: string; durable: boolean }): Promise<void>;
  queueDeclare(params: {
    queue: string;
    durable?: boolean;
    /** Asks about a queue and declares none; closes the channel with `NOT_FOUND` where there is none. */
    passive?: boolean;
    arguments?: Record<string, unknown>;
  }): Promise<{ consumerCount: number }>;
  queueBind(params: { queue: string; exchange: string; routingKey: string }): Promise<void>;
  queueDelete(params: { queue: string }): Promise<unknown>;
  basicQos(params: { prefetchCount: number }): Promise<void>;
  basicConsume(params: { queue: string }, receive: (message: BrokerMessage) => void): Promise<{ consumerTag: string }>;
  basicCancel(params: { consumerTag: string }): Promise<unknown>;
  basicAck(params: { deliveryTag: number }): void;
  basicNack(params: { deliveryTag: number; requeue: boolean }): void;
  /** Resolves when the broker has the message, once confirms are selected. */
  basicPublish(envelope: BrokerEnvelope, body: Buffer): Promise<void>;
  close(): Promise<void>;
  on(event: 'close', listener: () => void): unknown;
  on(event: 'basic.cancel', listener: () => void): unknown;
}

/** A connection to a broker that is made anew when it is lost. Disposing closes it. */
export interface BrokerLink extends AsyncDisposable {
  /** Where the broker is, without user and password. */
  readonly address: string;
  readonly isConnected: boolean;
  /** Why there was no connection the last time one was tried. */
  readonly problem: string | undefined;
  /** Opens a channel as soon as there is a connection; rejects when none came about in time. */
  openChannel(): Promise<BrokerChannel>;
}

/** How a broker is reached. */
export interface BrokerLinkOptions {
  /** `amqp://user:password@host:port/vhost`, or `amqps://`. */
  readonly url: string;
  /** Shown in the broker's list of connections. */
  readonly name: string;
  readonly log: Log;
  readonly clock: Clock;
  /** How long {@link BrokerLink.openChannel} waits for a connection. */
  readonly waitMs: number;
  /** First and longest wait before another attempt to connect. */
  readonly retryMs: { readonly first: number; readonly longest: number };
}

const packageName = 'rabbitmq-client';
const connectTimeoutMs = 10_000;
// What RabbitMQ offers; the client's own 8 KB cut large messages into many pieces.
const frameBytes = 131_072;
const closePatienceMs = 2000;

/**
 * Connects to a RabbitMQ broker with the optional package `rabbitmq-client`, and goes on trying for as long as it is open.
 * @throws {GantryError} `package_missing` without the package; `config_invalid` when the URL is none.
 */
export const openBrokerLink = async (options: BrokerLinkOptions): Promise<BrokerLink> => {
  const { url, name, log, clock, waitMs, retryMs } = options;
  const address = shownAddress(url);
  const Connection = withGuardedReads(await loadClient());
  const connection = new Connection({
    url,
    connectionName: name,
    connectionTimeout: connectTimeoutMs,
    acquireTimeout: waitMs,
    frameMax: frameBytes,
    retryLow: retryMs.first,
    retryHigh: retryMs.longest,
  });
  let problem: string | undefined;
  connection.on('error', (error: unknown) => {
    problem = messageOf(error);
    log.warn({ address, reason: problem }, 'the connection to the broker failed; it is tried again');
  });
  connection.on('connection', () => {
    problem = undefined;
    log.info({ address }, 'connected to the broker');
  });
  connection.on('connection.blocked', (reason: unknown) =>
    log.warn({ address, reason: String(reason) }, 'the broker takes no messages for now'),
  );
  return {
    address,
    get isConnected() {
      return connection.ready;
    },
    get problem() {
      return problem;
    },
    openChannel: async () => {
      const channel = await connection.acquire({ emitErrorsFromChannel: true });
      channel.on('error', (error: unknown) =>
        log.warn({ address, reason: messageOf(error) }, 'the broker closed a channel'),
      );
      return channel;
    },
    [Symbol.asyncDispose]: async () => {
      // A broker that does not answer, or takes nothing, is not waited for.
      await Promise.race([connection.close(), delay(clock, closePatienceMs)]);
      connection.unsafeDestroy();
    },
  };
};

const loadClient = async (): Promise<typeof Rabbit> => {
  try {
    return await import('rabbitmq-client');
  } catch (error) {
    const install = `npm install ${packageName}`;
    throw new GantryError('package_missing', `A bus over RabbitMQ needs ${packageName}; run "${install}".`, {
      details: { package: packageName, install },
      cause: error,
    });
  }
};

/**
 * The client's connection, which does not read more at once than a frame can have. The client (seen in 5.0.8) reads as many bytes as the other
 * end announces; something that is no broker, such as a web server, makes that more than a stream takes, and the error would end the process.
 */
const withGuardedReads = ({ Connection }: typeof Rabbit): typeof Rabbit.Connection => {
  const connect: unknown = Reflect.get(Connection.prototype, '_connect');
  return class extends Connection {
    _connect(): unknown {
      const socket: unknown = typeof connect === 'function' ? Reflect.apply(connect, this, []) : undefined;
      if (socket instanceof Socket) guardReads(socket);
      return socket;
    }
  };
};

const guardReads = (socket: Socket): void => {
  const read = socket.read.bind(socket);
  socket.read = (bytes?: number): unknown => {
    if (bytes === undefined || bytes <= 2 * frameBytes) return read(bytes);
    socket.destroy(new Error('what answers there does not speak AMQP'));
    return null;
  };
};
