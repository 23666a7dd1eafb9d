import type { Bus } from '../../bus/bus.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { topics } from '../../bus/topics.ts';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { TurnStep } from '../../memory/conversation-turn.ts';
import type { SubagentRecord, SubagentResult } from './subagent-record.ts';

/** The message types of subagents on the bus. */
export const subagentMessageTypes = { progress: 'SubagentProgress', result: 'SubagentResult' } as const;

/** What is published on `subagent.progress`. */
export interface SubagentProgressBody {
  readonly taskId: string;
  readonly subagentSessionId: string;
  /** Session that started it, with its kind: `session/{id}`. */
  readonly primarySessionId: string;
  readonly message: string;
  /** ISO time. */
  readonly timestamp: string;
}

/** What is published on `subagent.result`, once for each subagent. */
export interface SubagentResultBody extends Omit<SubagentProgressBody, 'message'> {
  readonly output: string;
  readonly isSuccess: boolean;
  readonly error?: string | undefined;
  readonly consolidate: boolean;
  readonly originatingUserRequest?: string | undefined;
  readonly description: string;
  readonly toolCalls: readonly { readonly name: string; readonly status: string }[];
  readonly toolCallCount: number;
}

/** Tells everybody on the bus how subagents get on. What cannot be published is logged; the conversations do not depend on it. */
export interface SubagentMessages {
  progress(of: { readonly taskId: string; readonly record: SubagentRecord; readonly message: string }): Promise<void>;
  result(of: {
    readonly taskId: string;
    readonly record: SubagentRecord;
    readonly result: SubagentResult;
    readonly steps: readonly TurnStep[];
    readonly asked: string | undefined;
  }): Promise<void>;
}

const mostCalls = 100;

/** Makes the messages of a process. */
export const createSubagentMessages = (options: {
  readonly bus: Pick<Bus, 'publish'>;
  readonly agent: string;
  readonly clock: Clock;
  readonly log: Log;
}): SubagentMessages => {
  const { bus, agent, clock, log } = options;
  const publish = async (topic: string, messageType: string, body: object): Promise<void> => {
    const headers = { [messageHeaders.contentTrust]: 'agent-message' };
    try {
      await bus.publish(topic, createEnvelope({ messageType, source: agent, body, headers }));
    } catch (error) {
      log.debug({ topic, reason: messageOf(error) }, 'a message of a subagent could not be published');
    }
  };
  const headOf = (taskId: string, { namespace }: SubagentRecord): Omit<SubagentProgressBody, 'message'> => ({
    taskId,
    subagentSessionId: `subagent-${taskId}`,
    primarySessionId: namespace,
    timestamp: new Date(clock.nowMs()).toISOString(),
  });
  return {
    progress: ({ taskId, record, message }) => {
      const body: SubagentProgressBody = { ...headOf(taskId, record), message };
      return publish(topics.subagentProgress, subagentMessageTypes.progress, body);
    },
    result: ({ taskId, record, result, steps, asked }) => {
      const calls = steps.flatMap((step) => step.calls);
      const body: SubagentResultBody = {
        ...headOf(taskId, record),
        output: result.text,
        isSuccess: result.isSuccess,
        error: result.error,
        consolidate: record.consolidate,
        originatingUserRequest: asked,
        description: record.description,
        toolCalls: calls.slice(0, mostCalls).map(({ name, status }) => ({ name, status })),
        toolCallCount: calls.length,
      };
      return publish(topics.subagentResult, subagentMessageTypes.result, body);
    },
  };
};
