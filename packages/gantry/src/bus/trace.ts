import {
  type Context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from '@opentelemetry/api';
import { messageHeaders } from './headers.ts';

/** The W3C trace headers of the span that is active in the context; none when there is no valid one. */
export const toTraceHeaders = (context: Context): Record<string, string> => {
  const span = trace.getSpanContext(context);
  if (span === undefined || !isSpanContextValid(span)) return {};
  const flags = span.traceFlags.toString(16).padStart(2, '0');
  const headers: Record<string, string> = {
    [messageHeaders.traceparent]: `00-${span.traceId}-${span.spanId}-${flags}`,
  };
  const state = span.traceState?.serialize();
  if (state) headers[messageHeaders.tracestate] = state;
  return headers;
};

// W3C Trace Context, version 00; upper case is not allowed there.
const traceparentForm = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * The context whose active span is the remote parent named by the W3C headers. A header that is missing, malformed or of
 * another version gives `base` (default: the root context) unchanged. Reads any carrier, also the `_meta` of MCP.
 */
export const parseTraceHeaders = (
  headers: Readonly<Record<string, unknown>>,
  base: Context = ROOT_CONTEXT,
): Context => {
  const span = toSpanContext(headers[messageHeaders.traceparent], headers[messageHeaders.tracestate]);
  return span === undefined ? base : trace.setSpanContext(base, span);
};

const toSpanContext = (traceparent: unknown, tracestate: unknown): SpanContext | undefined => {
  const parts = typeof traceparent === 'string' ? traceparentForm.exec(traceparent) : null;
  if (parts === null) return undefined;
  const span: SpanContext = {
    traceId: parts[1] as string,
    spanId: parts[2] as string,
    traceFlags: Number.parseInt(parts[3] as string, 16),
    isRemote: true,
    ...(typeof tracestate === 'string' && tracestate !== '' ? { traceState: createTraceState(tracestate) } : {}),
  };
  return isSpanContextValid(span) ? span : undefined;
};
