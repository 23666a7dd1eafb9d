import type { Span } from '@opentelemetry/api';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { messageHeaders } from '../../bus/headers.ts';
import { parseTraceHeaders, toTraceHeaders } from '../../bus/trace.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { TraceContext } from '../../tool/context.ts';
import type { TierModel } from '../models/tier-models.ts';
import type { TokenUsage } from './loop-run.ts';

/** An open span of the loop. */
export interface LoopSpan {
  /** To hand on to what happens inside: this span's when it is recorded, else the caller's. */
  readonly trace: TraceContext | undefined;
  /** Closes it; `error` is what it ended with, if it failed. */
  end(outcome: { readonly usage?: TokenUsage | undefined; readonly error?: unknown }): void;
}

/** Spans of the loop in the terms of the GenAI conventions: a turn, and the requests to models inside it. */
export interface LoopTelemetry {
  turn(namespace: string, parent: TraceContext | undefined): LoopSpan;
  chat(model: TierModel, parent: TraceContext | undefined): LoopSpan;
}

/** Telemetry through the OpenTelemetry API: spans of the tracer that is registered. No text of a conversation is part of it. */
export const createLoopTelemetry = (): LoopTelemetry => {
  const tracer = trace.getTracer('gantry');

  const open = (
    name: string,
    kind: SpanKind,
    attributes: Record<string, string>,
    parent: TraceContext | undefined,
  ): LoopSpan => {
    const span = tracer.startSpan(name, { kind, attributes }, parent ? parseTraceHeaders({ ...parent }) : ROOT_CONTEXT);
    return {
      trace: span.isRecording() ? traceOf(span) : parent,
      end: ({ usage, error }) => {
        if (usage) {
          span.setAttribute('gen_ai.usage.input_tokens', usage.inputTokens);
          span.setAttribute('gen_ai.usage.output_tokens', usage.outputTokens);
        }
        if (error !== undefined) {
          span.setAttribute('error.type', GantryError.is(error) ? error.code : 'execution_failed');
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  };

  return {
    turn: (namespace, parent) =>
      open(
        'invoke_agent gantry',
        SpanKind.INTERNAL,
        { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'gantry', 'gen_ai.conversation.id': namespace },
        parent,
      ),
    chat: ({ tier, settings }, parent) =>
      open(
        `chat ${settings.modelId}`,
        SpanKind.CLIENT,
        {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': settings.provider,
          'gen_ai.request.model': settings.modelId,
          'gantry.tier': tier,
        },
        parent,
      ),
  };
};

const traceOf = (span: Span): TraceContext | undefined => {
  const headers = toTraceHeaders(trace.setSpan(ROOT_CONTEXT, span));
  const traceparent = headers[messageHeaders.traceparent];
  return traceparent === undefined ? undefined : { traceparent, tracestate: headers[messageHeaders.tracestate] };
};
