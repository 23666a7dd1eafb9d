import { trace } from '@opentelemetry/api';
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { afterAll, expect, it } from 'vitest';
import { defineTool } from '../packages/gantry/src/tool/define-tool.ts';
import { startLoop } from './fixtures/model-loop.ts';

const spans = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }));
afterAll(() => trace.disable());

it('traces a turn, its requests to models and its calls as one', async () => {
  const ping = defineTool({ name: 'ping', description: 'Pings.', execute: () => 'pong' });
  await using loop = await startLoop(
    [
      { calls: [{ name: 'ping' }], usage: [30, 4] },
      { status: 500, message: 'no' },
    ],
    {
      tools: [ping],
    },
  );
  await expect(loop.run('a secret question')).rejects.toMatchObject({ code: 'model_failed' });
  const finished = spans.getFinishedSpans();
  const named = (name: string) => finished.filter((span) => span.name === name);
  const [turn] = named('invoke_agent gantry');
  const [first, second] = named('chat model-balanced');
  const [call] = named('tool.invoke ping');
  expect(new Set(finished.map((span) => span.spanContext().traceId)).size).toBe(1);
  for (const span of [first, second, call]) expect(span?.parentSpanContext?.spanId).toBe(turn?.spanContext().spanId);
  expect(first?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'model-balanced',
    'gen_ai.usage.input_tokens': 30,
    'gen_ai.usage.output_tokens': 4,
  });
  expect(second?.attributes['error.type']).toBe('model_failed');
  expect(turn?.attributes['error.type']).toBe('model_failed');
  expect(JSON.stringify(finished.map(({ attributes }) => attributes))).not.toContain('secret question');
});
