import { metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GantryError } from '../kernel/errors.ts';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import type { CallContext } from '../tool/context.ts';
import { defineTool } from '../tool/define-tool.ts';

const spans = new InMemorySpanExporter();
let exporter: InMemoryMetricExporter;
let reader: PeriodicExportingMetricReader;

beforeEach(() => {
  exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }));
});
afterEach(async () => {
  await reader.shutdown();
  spans.reset();
  metrics.disable();
  trace.disable();
});

const recorded = async (): Promise<Record<string, { attributes: unknown; count: number }[]>> => {
  await reader.forceFlush();
  const all =
    exporter
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
  return Object.fromEntries(
    all.map((metric) => [
      metric.descriptor.name,
      metric.dataPoints.map(({ attributes, value }) => ({
        attributes,
        count: typeof value === 'object' ? value.count : value,
      })),
    ]),
  );
};

const contexts: CallContext[] = [];
const ok = defineTool({ name: 'ok', description: 'd', execute: (_args, context) => (contexts.push(context), 'fine') });
const slow = defineTool({
  name: 'slow',
  description: 'd',
  execute: () => {
    throw new GantryError('timeout', 'slow');
  },
});

it('counts and times calls by tool and status', async () => {
  const invoker = makeInvoker(registryOf(ok, slow));
  await invoker.invoke({ name: 'ok' }, { caller: 'model' });
  await invoker.invoke({ name: 'ok' }, { caller: 'model' });
  await invoker.invoke({ name: 'slow' }, { caller: 'model' });
  const expected = [
    { attributes: { tool_name: 'ok', status: 'ok' }, count: 2 },
    { attributes: { tool_name: 'slow', status: 'timeout' }, count: 1 },
  ];
  expect(await recorded()).toMatchObject({
    'gantry.tool.invocations': expected,
    'gantry.tool.invoke.duration': expected,
  });
});

it('counts an unknown tool and takes no duration of it', async () => {
  await makeInvoker(registryOf(ok)).invoke({ name: 'nope' }, { caller: 'model' });
  const found = await recorded();
  expect(found['gantry.tool.invocations']).toEqual([
    { attributes: { tool_name: 'nope', status: 'tool_not_found' }, count: 1 },
  ]);
  expect(found['gantry.tool.invoke.duration']).toBeUndefined();
});

it('counts the names that callers make up together, beyond the first hundred', async () => {
  const invoker = makeInvoker(registryOf(ok));
  for (let n = 0; n < 300; n += 1) await invoker.invoke({ name: `made-up-${n % 150}` }, { caller: 'model' });
  const counted = (await recorded())['gantry.tool.invocations'] ?? [];
  expect(counted).toHaveLength(101);
  expect(counted).toContainEqual({ attributes: { tool_name: 'unknown', status: 'tool_not_found' }, count: 100 });
});

it('opens one internal span per call under the caller’s trace and hands its own trace on', async () => {
  contexts.length = 0;
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  await makeInvoker(registryOf(ok)).invoke({ name: 'ok', id: 'call-1' }, { caller: 'model', trace: { traceparent } });
  const [span] = spans.getFinishedSpans();
  expect(span).toMatchObject({
    name: 'tool.invoke ok',
    kind: SpanKind.INTERNAL,
    attributes: { 'gen_ai.tool.call.id': 'call-1' },
  });
  expect(span?.parentSpanContext).toMatchObject({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) });
  expect(contexts[0]?.trace?.traceparent).toBe(`00-${'a'.repeat(32)}-${span?.spanContext().spanId}-01`);
});

it('marks the span of a failed call with its code', async () => {
  await makeInvoker(registryOf(slow)).invoke({ name: 'slow' }, { caller: 'model' });
  expect(spans.getFinishedSpans()[0]).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { 'error.type': 'timeout' },
  });
});
