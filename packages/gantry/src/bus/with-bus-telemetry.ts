import { context, type Meter } from '@opentelemetry/api';
import type { Clock } from '../kernel/clock.ts';
import type { Bus, MessageHandler, Verdict } from './bus.ts';
import { type Envelope, withHeaders } from './envelope.ts';
import { messageHeaders } from './headers.ts';
import { parseTraceHeaders, toTraceHeaders } from './trace.ts';

/**
 * A bus that carries the trace and measures: messages leave with the active span's trace headers unless they have some, and
 * handlers run with the sender's span as the active one.
 *
 * Metrics, tagged `destination` (the topic): `gantry.messaging.publish.duration` (ms) and `.publish.messages`;
 * `gantry.messaging.process.duration` (ms) and `.process.messages`, tagged also `result` (the verdict, or `error`);
 * `gantry.messaging.active_messages`, how many handlers run.
 */
export const withBusTelemetry = (
  bus: Bus,
  options: {
    meter: Pick<Meter, 'createCounter' | 'createHistogram' | 'createUpDownCounter'>;
    clock: Clock;
  },
): Bus => {
  const { meter, clock } = options;
  const publishMs = meter.createHistogram('gantry.messaging.publish.duration', { unit: 'ms' });
  const publishCount = meter.createCounter('gantry.messaging.publish.messages', { unit: '{message}' });
  const processMs = meter.createHistogram('gantry.messaging.process.duration', { unit: 'ms' });
  const processCount = meter.createCounter('gantry.messaging.process.messages', { unit: '{message}' });
  const active = meter.createUpDownCounter('gantry.messaging.active_messages', { unit: '{message}' });

  const measured =
    (handler: MessageHandler): MessageHandler =>
    async (envelope, topic) => {
      const startedMs = clock.elapsedMs();
      let result: Verdict | 'error' = 'error';
      active.add(1, { destination: topic });
      try {
        result = await context.with(parseTraceHeaders(envelope.headers), () => handler(envelope, topic));
        return result;
      } finally {
        active.add(-1, { destination: topic });
        processMs.record(clock.elapsedMs() - startedMs, { destination: topic, result });
        processCount.add(1, { destination: topic, result });
      }
    };

  return {
    publish: async (topic, envelope) => {
      const startedMs = clock.elapsedMs();
      await bus.publish(topic, withActiveTrace(envelope));
      publishMs.record(clock.elapsedMs() - startedMs, { destination: topic });
      publishCount.add(1, { destination: topic });
    },
    subscribe: (pattern, name, handler, options) => bus.subscribe(pattern, name, measured(handler), options),
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  };
};

const withActiveTrace = (envelope: Envelope): Envelope => {
  if (messageHeaders.traceparent in envelope.headers) return envelope;
  const headers = toTraceHeaders(context.active());
  return messageHeaders.traceparent in headers ? withHeaders(envelope, headers) : envelope;
};
