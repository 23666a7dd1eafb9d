import type { Meter, Span } from '@opentelemetry/api';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { messageHeaders } from '../bus/headers.ts';
import { parseTraceHeaders, toTraceHeaders } from '../bus/trace.ts';
import type { TraceContext } from '../tool/context.ts';

/** Records what happens to calls: one span and two metrics per call. */
export interface InvokeTelemetry {
  /** Opens the span of a call under its caller's trace. */
  start(toolName: string, callId: string, parent: TraceContext | undefined): CallSpan;
  /** Counts a call to a tool that does not exist: no span, no duration. */
  notFound(toolName: string): void;
}

/** The open span of one call. */
export interface CallSpan {
  /** The trace context to hand on: this span's when it is recorded, else the caller's. */
  readonly trace: TraceContext | undefined;
  /** Closes the span and records the metrics. `status` is `ok` or the failure's code. */
  end(status: string, durationMs: number): void;
}

// Names that callers make up would make metrics grow without end; each is a series of its own.
const mostUnknownNames = 100;

/**
 * Telemetry through the OpenTelemetry API: spans of the tracer that is registered, metrics of the given meter.
 * Metrics: `gantry.tool.invoke.duration` (ms) and `gantry.tool.invocations`, both by `tool_name` and `status`.
 */
export const createInvokeTelemetry = (meter: Pick<Meter, 'createCounter' | 'createHistogram'>): InvokeTelemetry => {
  const tracer = trace.getTracer('gantry');
  const durations = meter.createHistogram('gantry.tool.invoke.duration', { unit: 'ms' });
  const invocations = meter.createCounter('gantry.tool.invocations', { unit: '{invocation}' });

  const unknownNames = new Set<string>();

  const endSpan = (span: Span, status: string): void => {
    if (status !== 'ok') {
      span.setAttribute('error.type', status);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  };

  return {
    start: (toolName, callId, parent) => {
      const span = tracer.startSpan(
        `tool.invoke ${toolName}`,
        {
          kind: SpanKind.INTERNAL,
          attributes: {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': toolName,
            'gen_ai.tool.call.id': callId,
          },
        },
        parent ? parseTraceHeaders({ ...parent }) : ROOT_CONTEXT,
      );
      return {
        trace: span.isRecording() ? traceOf(span) : parent,
        end: (status, durationMs) => {
          const tags = { tool_name: toolName, status };
          durations.record(durationMs, tags);
          invocations.add(1, tags);
          endSpan(span, status);
        },
      };
    },
    notFound: (toolName) => {
      if (unknownNames.size < mostUnknownNames) unknownNames.add(toolName);
      const name = unknownNames.has(toolName) ? toolName : 'unknown';
      invocations.add(1, { tool_name: name, status: 'tool_not_found' });
    },
  };
};

const traceOf = (span: Span): TraceContext | undefined => {
  const headers = toTraceHeaders(trace.setSpan(ROOT_CONTEXT, span));
  const traceparent = headers[messageHeaders.traceparent];
  return traceparent === undefined ? undefined : { traceparent, tracestate: headers[messageHeaders.tracestate] };
};
