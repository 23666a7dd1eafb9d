import type { Bus, MessageHandler } from '../../bus/bus.ts';
import type { Envelope } from '../../bus/envelope.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { topics } from '../../bus/topics.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import { flattenText } from '../../text/flatten.ts';
import type { LoopEvent } from '../loop/loop-events.ts';
import type { AgentSessions } from './agent-sessions.ts';
import type { SessionEvent } from './session-events.ts';

/** The message types of conversations on the bus. */
export const userMessageTypes = { message: 'UserMessage', reply: 'AgentReply' } as const;

/** What a surface on the bus sends on `user.message`. */
export interface UserMessageBody {
  readonly sessionId: string;
  readonly userId: string;
  readonly content: string;
  /** Paths of files in the shared folder. */
  readonly attachments?: readonly string[] | undefined;
}

/** What it gets: any number of replies that say how it goes, then exactly one that is final. */
export interface AgentReplyBody {
  readonly content: string;
  readonly sessionId: string;
  readonly agentName: string;
  readonly isFinal: boolean;
}

const progressEveryMs = 5_000;
const argumentChars = 80;

/**
 * Answers users who talk over the bus. One final reply for each message, also when it fails; a message that a newer one of its session took
 * the place of ends without a reply.
 */
export const serveUserMessages = (options: {
  readonly bus: Bus;
  readonly sessions: Pick<AgentSessions, 'send'>;
  readonly agent: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal;
}): Promise<AsyncDisposable> => {
  const { bus, sessions, agent, clock, log, stopping } = options;

  const reply = (request: Envelope, sessionId: string, content: string, isFinal: boolean): Promise<void> => {
    const body: AgentReplyBody = { content, sessionId, agentName: agent, isFinal };
    return bus.publish(
      request.replyTo ?? topics.userResponse,
      createEnvelope({
        messageType: userMessageTypes.reply,
        source: agent,
        body,
        correlationId: request.correlationId,
        headers: { [messageHeaders.contentTrust]: 'agent-message' },
      }),
    );
  };

  const handle: MessageHandler = async (request) => {
    const message = messageIn(request);
    if (!message) return 'dead-letter';
    const { sessionId, userId, content, attachments } = message;
    let toldMs = clock.elapsedMs();
    const onEvent = (event: SessionEvent): void => {
      const text = progressText(event);
      const now = clock.elapsedMs();
      if (text === undefined || now - toldMs < progressEveryMs) return;
      toldMs = now;
      reply(request, sessionId, text, false).catch((error: unknown) =>
        log.debug({ reason: messageOf(error) }, 'progress of a turn could not be published'),
      );
    };
    try {
      const answer = await sessions.send({
        sessionId,
        text: content,
        attachments,
        speaker: userId,
        workspace: request.headers[messageHeaders.workspace],
        signal: stopping,
        onEvent,
      });
      if (answer.status === 'done') await reply(request, sessionId, answer.reply, true);
    } catch (error) {
      if (GantryError.is(error) && error.code === 'stopped') return 'ack';
      await reply(request, sessionId, `Sorry, this did not work: ${messageOf(error)}`, true);
    }
    return 'ack';
  };

  return bus.subscribe(topics.userMessage, `${agent}.user-message`, handle, { concurrency: Infinity });
};

const messageIn = ({ messageType, body }: Envelope): UserMessageBody | undefined => {
  if (messageType !== userMessageTypes.message || !isObject(body)) return undefined;
  const texts = ['sessionId', 'userId', 'content'].every((key) => typeof body[key] === 'string');
  const { attachments = [] } = body;
  const paths = Array.isArray(attachments) && attachments.every((path) => typeof path === 'string');
  return texts && paths ? (body as unknown as UserMessageBody) : undefined;
};

/** What the agent is at: the tool, and the argument that says most. */
const progressText = (event: SessionEvent): string | undefined => {
  if (event.type === 'tool-start') return `${toolText(event)}…`;
  if (event.type === 'still-working') return `Still working on it: ${event.iterations} rounds of tool calls so far.`;
  if (event.type === 'tool-end' && event.status === 'failed' && /\btimed out\b|no result within/i.test(event.result))
    return `${event.name.replace('__', '/')} is taking too long; trying something else.`;
  return undefined;
};

const toolText = ({ name, arguments: args }: Extract<LoopEvent, { type: 'tool-start' }>): string => {
  if (name.includes('__')) return name.replace('__', '/');
  const said = [args['query'], args['url'], args['key']].find((value) => typeof value === 'string');
  return said === undefined ? name : `${name} ${flattenText(said, { maxChars: argumentChars })}`;
};
