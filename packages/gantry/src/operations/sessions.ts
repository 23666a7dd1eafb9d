import * as z from 'zod';
import type { AgentSessions } from '../agent/sessions/agent-sessions.ts';
import { sessionIdPattern, sessionIdRule } from '../agent/sessions/session-id.ts';
import type { TurnReply } from '../agent/sessions/session-events.ts';
import { GantryError } from '../kernel/errors.ts';
import type { StoredTurn } from '../memory/conversation-turn.ts';
import type { Tier } from '../tool/context.ts';
import { jsonObject } from './json-shapes.ts';
import type { NoInput, Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import type { OperationDeps } from './operation-deps.ts';

/** A conversation in a list. */
export interface SessionInfo {
  readonly id: string;
  /** The user's first words. */
  readonly title: string;
  readonly turns: number;
  readonly workspace: string | null;
  /** ISO times. */
  readonly startedAt: string;
  readonly lastAt: string;
}

/** A turn of a conversation. */
export interface SessionTurn {
  readonly role: 'user' | 'assistant';
  /** Who said what stands as the user's: a person, the agent to itself, a schedule. Only of user turns. */
  readonly origin?: 'person' | 'notice' | 'schedule' | undefined;
  /** How it ended. Only of assistant turns; `running` may mean that it was interrupted by a restart. */
  readonly status?: 'running' | 'done' | 'failed' | 'stopped' | undefined;
  readonly text: string;
  readonly toolCalls: readonly { readonly name: string; readonly isError: boolean }[];
  /** ISO time. */
  readonly at: string;
}

/** What `sessions.send` takes. */
export interface SessionsSendInput {
  readonly id: string;
  readonly message: string;
  readonly attachments?: readonly string[] | undefined;
  readonly workspace?: string | undefined;
  readonly tier?: Tier | undefined;
}

/** As for ids of sessions. */
const mostWorkspaceChars = 128;
const id = z
  .string()
  .regex(sessionIdPattern, `is no session id; use ${sessionIdRule}`)
  .describe(`Id of the session: ${sessionIdRule}.`);

const replySchema: z.ZodType<TurnReply> = z.strictObject({
  sessionId: z.string(),
  reply: z.string().describe('The answer; empty when a newer message took the place of this one.'),
  status: z.enum(['done', 'superseded']),
  toolCalls: z.array(
    z.strictObject({
      name: z.string(),
      arguments: jsonObject.describe('With secrets masked.'),
      isError: z.boolean(),
      durationMs: z.number(),
    }),
  ),
  usage: z.strictObject({ inputTokens: z.number(), outputTokens: z.number(), cachedTokens: z.number() }),
  model: z.string(),
});

/** `sessions.send` */
export const sessionsSend: Operation<SessionsSendInput, TurnReply> = defineOperation({
  name: 'sessions.send',
  summary: 'Sends a message to the agent and gives its answer.',
  description:
    'A session that does not exist yet begins with its first message. A message ends the turn that is running in its session and is answered together with it. As an event stream: "waiting" while another process has the session, pieces of the answer ("text"), calls of tools ("tool-start", "tool-progress", "tool-end"), "still-working" once in a turn of many calls, "again" when what was streamed since the last call is void, and at the end "result" or "error".',
  method: 'POST',
  path: '/sessions/{id}/messages',
  streams: 'both',
  input: z.strictObject({
    id,
    message: z.string().min(1).describe('What the user says.'),
    attachments: z
      .array(z.string().min(1))
      .max(20)
      .optional()
      .describe('Files of the shared folder that come with it, by path.'),
    workspace: z.string().min(1).max(mostWorkspaceChars).optional().describe('Workspace of the session; default none.'),
    tier: z.enum(['low', 'balanced', 'high']).optional().describe('Which model answers; default by the message.'),
  }),
  output: replySchema,
  handler: ({ id: sessionId, message, attachments, workspace, tier }, deps, { signal, onEvent }) =>
    sessionsOf(deps).send({ sessionId, text: message, attachments, workspace, tier, signal, onEvent }),
});

/** `sessions.events` */
export const sessionsEvents: Operation<{ readonly id: string }, { readonly ended: true }> = defineOperation({
  name: 'sessions.events',
  summary:
    'Streams what happens in a session, also turns that nobody sent (results that come late), until the reader leaves.',
  method: 'GET',
  path: '/sessions/{id}/events',
  streams: 'only',
  input: z.strictObject({ id }),
  output: z.strictObject({ ended: z.literal(true) }),
  handler: async ({ id: sessionId }, deps, { signal, onEvent }) => {
    const left = Promise.withResolvers<void>();
    const stop = sessionsOf(deps).subscribe(sessionId, (event) => onEvent?.(event));
    const ends = AbortSignal.any([signal, deps.ending].filter((each) => each !== undefined));
    if (ends.aborted) left.resolve();
    else ends.addEventListener('abort', () => left.resolve(), { once: true });
    await left.promise;
    stop();
    return { ended: true };
  },
});

/** `sessions.list` */
export const sessionsList: Operation<
  NoInput,
  { readonly model: string | null; readonly sessions: readonly SessionInfo[] }
> = defineOperation({
  name: 'sessions.list',
  summary: 'Lists the conversations with the agent, the last one first.',
  method: 'GET',
  path: '/sessions',
  input: z.strictObject({}),
  output: z.strictObject({
    model: z.string().nullable().describe('The model of the balanced tier; null where none is configured.'),
    sessions: z.array(
      z.strictObject({
        id: z.string(),
        title: z.string().describe("The user's first words."),
        turns: z.number(),
        workspace: z.string().nullable(),
        startedAt: z.string().describe('ISO time.'),
        lastAt: z.string().describe('ISO time.'),
      }),
    ),
  }),
  handler: async (_input, deps) => ({
    model: sessionsOf(deps).model ?? null,
    sessions: (await sessionsOf(deps).list()).map(({ namespace, title, turns, workspace, startedAtMs, lastAtMs }) => ({
      id: namespace.replace(/^session\//, ''),
      title,
      turns,
      workspace: workspace ?? null,
      startedAt: new Date(startedAtMs).toISOString(),
      lastAt: new Date(lastAtMs).toISOString(),
    })),
  }),
});

/** `sessions.show` */
export const sessionsShow: Operation<
  { readonly id: string; readonly limit?: number | undefined },
  { readonly id: string; readonly turns: readonly SessionTurn[] }
> = defineOperation({
  name: 'sessions.show',
  summary: 'Shows the last turns of a conversation, oldest first; none when there is no such conversation.',
  method: 'GET',
  path: '/sessions/{id}',
  input: z.strictObject({
    id,
    limit: z.number().int().positive().max(1000).optional().describe('How many turns; default 20.'),
  }),
  output: z.strictObject({
    id: z.string(),
    turns: z.array(
      z.strictObject({
        role: z.enum(['user', 'assistant']),
        origin: z.enum(['person', 'notice', 'schedule']).optional(),
        status: z.enum(['running', 'done', 'failed', 'stopped']).optional(),
        text: z.string(),
        toolCalls: z.array(z.strictObject({ name: z.string(), isError: z.boolean() })),
        at: z.string().describe('ISO time.'),
      }),
    ),
  }),
  handler: async ({ id: sessionId, limit = 20 }, deps) => ({
    id: sessionId,
    turns: (await sessionsOf(deps).turns(sessionId, limit)).map(toSessionTurn),
  }),
});

/** `sessions.interrupt` */
export const sessionsInterrupt: Operation<{ readonly id: string }, { readonly interrupted: boolean }> = defineOperation(
  {
    name: 'sessions.interrupt',
    summary: 'Ends the turn that is running in a session; says whether there was one.',
    method: 'POST',
    path: '/sessions/{id}/interrupt',
    input: z.strictObject({ id }),
    output: z.strictObject({ interrupted: z.boolean() }),
    handler: async ({ id: sessionId }, deps) => ({ interrupted: await sessionsOf(deps).interrupt(sessionId) }),
  },
);

/** `sessions.forget` */
export const sessionsForget: Operation<{ readonly id: string }, { readonly forgotten: boolean }> = defineOperation({
  name: 'sessions.forget',
  summary: 'Forgets a conversation; says whether there was one.',
  description:
    'The turn that runs in it ends, and so do its subagents, background tasks and open questions; its working memory goes with it.',
  method: 'POST',
  path: '/sessions/{id}/forget',
  input: z.strictObject({ id }),
  output: z.strictObject({ forgotten: z.boolean() }),
  handler: async ({ id: sessionId }, deps) => ({ forgotten: await sessionsOf(deps).forget(sessionId) }),
});

const sessionsOf = ({ sessions }: OperationDeps): Omit<AgentSessions, keyof AsyncDisposable> => {
  if (sessions) return sessions;
  throw new GantryError('usage', 'No agent is in use here.');
};

const toSessionTurn = (turn: StoredTurn): SessionTurn => ({
  role: turn.role,
  ...(turn.role === 'user' ? { origin: turn.origin } : { status: turn.status }),
  text: turn.text,
  toolCalls:
    turn.role === 'user'
      ? []
      : turn.steps.flatMap(({ calls }) => calls.map(({ name, status }) => ({ name, isError: status === 'failed' }))),
  at: new Date(turn.atMs).toISOString(),
});
