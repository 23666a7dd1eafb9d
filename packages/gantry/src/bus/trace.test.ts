import { createTraceState, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { parseTraceHeaders, toTraceHeaders } from './trace.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${spanId}-01`;

describe('toTraceHeaders', () => {
  it('gives nothing without an active span', () => {
    expect(toTraceHeaders(ROOT_CONTEXT)).toEqual({});
  });

  it('gives nothing for an invalid span', () => {
    const context = trace.setSpanContext(ROOT_CONTEXT, { traceId: '0'.repeat(32), spanId, traceFlags: 1 });
    expect(toTraceHeaders(context)).toEqual({});
  });

  it('gives what parseTraceHeaders reads', () => {
    const traceState = createTraceState('a=1,b=2');
    const context = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1, traceState });
    expect(toTraceHeaders(context)).toEqual({ traceparent, tracestate: 'a=1,b=2' });
    expect(toTraceHeaders(parseTraceHeaders(toTraceHeaders(context)))).toEqual(toTraceHeaders(context));
  });
});

describe('parseTraceHeaders', () => {
  it('makes the named span the remote parent', () => {
    const span = trace.getSpanContext(parseTraceHeaders({ traceparent }));
    expect(span).toEqual({ traceId, spanId, traceFlags: 1, isRemote: true });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an empty text', ''],
    ['a number', 7],
    ['another version', traceparent.replace('00-', '01-')],
    ['upper case', traceparent.toUpperCase()],
    ['a short trace id', `00-${traceId.slice(1)}-${spanId}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['a letter outside hex', `00-${traceId.replace('0', 'g')}-${spanId}-01`],
    ['more fields', `${traceparent}-00`],
    ['a line break', `${traceparent}\n`],
  ])('gives no parent for %s', (_, malformed) => {
    expect(trace.getSpanContext(parseTraceHeaders({ traceparent: malformed, tracestate: 'a=1' }))).toBeUndefined();
  });

  it.each(['', '===', ',,,', 'a'.repeat(600)])('reads the parent beside a broken tracestate', (tracestate) => {
    expect(trace.getSpanContext(parseTraceHeaders({ traceparent, tracestate }))?.spanId).toBe(spanId);
  });
});
