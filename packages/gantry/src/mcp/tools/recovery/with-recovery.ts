import type { Json, JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { PreparedCall, ToolExecutor } from '../../../tool/executor.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { missingFieldIn } from '../../wire/missing-field.ts';
import type { ArgumentProvider } from './argument-provider.ts';
import { errorTextOf } from './error-text.ts';
import type { RecentCalls } from './recent-calls.ts';

/** How missing arguments are found. */
export interface RecoveryOptions {
  /** Asked in this order. */
  readonly providers: readonly ArgumentProvider[];
  readonly recentCalls: RecentCalls;
}

// A server that asks for one thing after another is told this many.
const mostSupplied = 4;

/**
 * Runs tools of servers and supplies an argument that a server says is missing where a provider knows it, by calling again: the server has
 * refused the call, so it did nothing. What cannot be supplied comes back with the server's text first and what helps to send it.
 */
export const withRecovery = (inner: ToolExecutor, { providers, recentCalls }: RecoveryOptions): ToolExecutor => {
  const valueOf = async (call: PreparedCall, field: string): Promise<Json | undefined> => {
    const { server, tool } = call.registration.target ?? { server: '', tool: call.name };
    for (const provide of providers) {
      const value = await provide({ server, tool, field, schema: call.registration.inputSchema });
      if (value !== undefined) return value;
    }
    return undefined;
  };

  const execute = async (call: PreparedCall, context: CallContext): Promise<Outcome> => {
    const { server, tool } = call.registration.target ?? { server: '', tool: call.name };
    let sent: JsonObject = call.arguments;
    for (let supplied = 0; ; supplied += 1) {
      const outcome = await inner.execute({ ...call, arguments: sent }, context);
      const text = errorTextOf(outcome);
      const field = text === undefined ? undefined : missingFieldIn(text);
      if (field === undefined) {
        if (outcome.status === 'done' && text === undefined) recentCalls.note(context, server, tool, sent);
        return outcome;
      }
      const value = Object.hasOwn(sent, field) || supplied >= mostSupplied ? undefined : await valueOf(call, field);
      if (value === undefined)
        return explained(outcome, helpWith(field, call, recentCalls.related(context, server, tool)));
      sent = { ...sent, [field]: value };
    }
  };

  return { ...inner, execute };
};

const helpWith = (
  field: string,
  { registration }: PreparedCall,
  related: ReturnType<RecentCalls['related']>,
): string | undefined => {
  const { properties } = registration.inputSchema;
  const declared = isObject(properties) && Object.hasOwn(properties, field) ? properties[field] : undefined;
  const mention = sentencesOf(registration.description).find((sentence) => sentence.includes(field));
  const lines = [
    declared === undefined ? undefined : `Schema of "${field}": ${JSON.stringify(declared).slice(0, 1_000)}`,
    mention === undefined ? undefined : `The tool's description says: ${mention.slice(0, 500)}`,
    related.length === 0 ? undefined : 'Calls in this session that worked:',
    ...related.map(({ tool, args }) => `- ${tool}: ${args}`),
  ].filter((line) => line !== undefined);
  return lines.length === 0 ? undefined : lines.join('\n');
};

const sentencesOf = (text: string): string[] => text.split(/(?<=[.!?])\s+|\n+/);

const explained = (outcome: Outcome, help: string | undefined): Outcome => {
  if (help === undefined || outcome.status === 'parked') return outcome;
  const added = { type: 'text', text: help } as const;
  if (outcome.status === 'done') return { ...outcome, parts: [...outcome.parts, added] };
  const { failure } = outcome;
  if (!failure.reported) return outcome;
  const reported = { ...failure.reported, parts: [...failure.reported.parts, added] };
  return { status: 'failed', failure: { ...failure, message: `${failure.message}\n${help}`, reported } };
};
