import * as z from 'zod';
import { isBrokerUrl } from '../../bus/rabbitmq/broker-url.ts';

/** Section `bus`: what carries messages between the processes of one Gantry. */
export interface BusConfig {
  readonly url?: string | undefined;
  readonly prefix: string;
  readonly prefetch: number;
  readonly maxMessageBytes: number;
  readonly waitSeconds: number;
}

const positive = z.number().int().positive();

/** Section `bus`. */
export const busConfig: z.ZodType<BusConfig> = z.strictObject({
  url: z
    .string()
    .refine(
      isBrokerUrl,
      'no AMQP URL; write amqp://user:password@host:5672/vhost (amqps:// for TLS), with special characters of user and password escaped',
    )
    .optional()
    .describe('RabbitMQ broker, amqp://user:password@host:5672/vhost; default none, everything is in one process.'),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,40}$/, 'letters, digits, "_" and "-", at most 40')
    .default('gantry')
    .describe('Begins the names of exchanges and queues; processes that work together have the same.'),
  prefetch: positive
    .max(65_535)
    .default(100)
    .describe('Messages that a part without a limit of its own takes from the broker at once.'),
  maxMessageBytes: positive
    .default(16 * 1024 * 1024)
    .describe('Largest message that is sent, bytes; brokers have a limit of their own.'),
  waitSeconds: positive.default(30).describe('How long a message waits for a broker that cannot be reached.'),
});
