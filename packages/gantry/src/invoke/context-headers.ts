import type { Headers } from '../bus/envelope.ts';
import { messageHeaders } from '../bus/headers.ts';
import type { JsonObject } from '../kernel/json.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import type { Asks, CallContext, CallerKind, Tier, TraceContext } from '../tool/context.ts';
import { callerRules } from '../tool/context.ts';

/** Says a call context as envelope headers. The signal and the listeners stay behind: what they hear travels as
 * messages. */
export const toContextHeaders = (context: CallContext): Headers => {
  const headers: Record<string, string> = { [messageHeaders.caller]: context.caller };
  const set = (name: string, value: string | undefined): void => {
    if (value !== undefined) headers[name] = value;
  };
  set(messageHeaders.session, context.namespace);
  set(messageHeaders.workspace, context.workspace);
  set(messageHeaders.client, context.client);
  set(messageHeaders.connection, context.connection);
  set(messageHeaders.tier, context.tier);
  set(messageHeaders.timeoutMs, context.timeoutMs === undefined ? undefined : String(context.timeoutMs));
  set(messageHeaders.sharesFolder, flag(context.sharesFolder));
  set(messageHeaders.mcpHandback, flag(context.answersQuestions));
  set(messageHeaders.mcpAsks, context.asks && JSON.stringify(context.asks));
  set(messageHeaders.mcpTasks, flag(context.receivesLateResults));
  set(messageHeaders.traceparent, context.trace?.traceparent);
  set(messageHeaders.tracestate, context.trace?.tracestate);
  return headers;
};

/**
 * Reads a context back. What is missing or unreadable narrows what is allowed: an unknown caller is a client without
 * identity, a time-out that is no positive number is none.
 */
export const fromContextHeaders = (headers: Headers): CallContext => {
  const timeoutMs = Number(headers[messageHeaders.timeoutMs]);
  return {
    caller: callerOf(headers[messageHeaders.caller]),
    namespace: headers[messageHeaders.session],
    workspace: headers[messageHeaders.workspace],
    client: headers[messageHeaders.client],
    connection: headers[messageHeaders.connection],
    tier: tierOf(headers[messageHeaders.tier]),
    timeoutMs: Number.isFinite(timeoutMs) && timeoutMs > 0 ? timeoutMs : undefined,
    sharesFolder: headers[messageHeaders.sharesFolder] === 'true',
    answersQuestions: headers[messageHeaders.mcpHandback] === 'true',
    asks: asksOf(headers[messageHeaders.mcpAsks]),
    receivesLateResults: headers[messageHeaders.mcpTasks] === 'true',
    trace: traceOf(headers),
  };
};

const flag = (value: boolean | undefined): string | undefined => (value ? 'true' : undefined);

const callerOf = (value: string | undefined): CallerKind =>
  value !== undefined && Object.hasOwn(callerRules, value) ? (value as CallerKind) : 'client';

const tierOf = (value: string | undefined): Tier | undefined =>
  value === 'low' || value === 'balanced' || value === 'high' ? value : undefined;

const asksOf = (value: string | undefined): Asks | undefined => {
  const parsed = value === undefined ? undefined : parseJson(value);
  if (!parsed?.ok || !isObject(parsed.value)) return undefined;
  const { elicitation, sampling, roots } = parsed.value as JsonObject;
  return {
    ...(isObject(elicitation) && { elicitation }),
    ...(isObject(sampling) && { sampling }),
    ...(isObject(roots) && { roots }),
  };
};

const traceOf = (headers: Headers): TraceContext | undefined => {
  const traceparent = headers[messageHeaders.traceparent];
  return traceparent === undefined ? undefined : { traceparent, tracestate: headers[messageHeaders.tracestate] };
};
