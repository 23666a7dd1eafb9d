import type { Clock } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PassTarget, SharedSession } from '../../wire/pass-port.ts';
import { rpcErrorResponse } from '../pass/rpc-response.ts';
import type { Notice } from '../../wire/sessions/exchange.ts';
import type { ClientSays } from '../../wire/sessions/client-says.ts';
import { tasksExtension } from '../../wire/tasks-extension.ts';
import { noticeStream } from './notice-stream.ts';
import { ownerOf } from './relayed.ts';
import type { Subscriber } from './shared-subscriptions.ts';
import { subscribeShared, unsubscribeShared } from './shared-subscriptions.ts';
import { takesPart } from './takes-part.ts';
import { knowsTasks } from './tasks/tasks-at-older.ts';
import type { WatchedTasks, WatchTasks } from './tasks/watch-tasks.ts';

/** A `subscriptions/listen` of a client of 2026. */
export interface ListenRequest {
  readonly target: PassTarget;
  readonly client: string | undefined;
  readonly says: ClientSays;
  readonly message: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

const listFlags = {
  toolsListChanged: ['tools', 'notifications/tools/list_changed'],
  promptsListChanged: ['prompts', 'notifications/prompts/list_changed'],
  resourcesListChanged: ['resources', 'notifications/resources/list_changed'],
} as const;
const acknowledged = 'notifications/subscriptions/acknowledged';
const mostSubscriptions = 200;

/** Makes streams of notices for clients of 2026, each over a session with the server of 2025 that gives the notices. */
export const createListenToOlder = ({
  clock,
  log,
  watchTasks,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly watchTasks: WatchTasks;
}) => {
  /** Subscribes to what the server can tell of; gives that part of what is wanted. */
  const subscribe = async (
    session: SharedSession,
    subscriber: Subscriber,
    wanted: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Subscribed> => {
    const can = (name: string, what: string): boolean => {
      const capability = session.capabilities[name];
      return isObject(capability) && capability[what] === true;
    };
    const lists = Object.entries(listFlags).filter(
      ([flag, [name]]) => wanted[flag] === true && can(name, 'listChanged'),
    );
    const { resourceSubscriptions } = wanted;
    const uris = new Set(
      Array.isArray(resourceSubscriptions) && can('resources', 'subscribe')
        ? resourceSubscriptions.filter((uri) => typeof uri === 'string').slice(0, mostSubscriptions)
        : [],
    );
    await subscribeShared(session, subscriber, [...uris], signal);
    return { lists: new Map(lists.map(([flag, [, notice]]) => [notice, flag])), uris };
  };
  /**
   * Listens where the client wants to hear of anything but tasks: over a session of its own, or that of the program all share where it shares
   * that in its calls.
   */
  const listenIn = async ({
    target,
    client,
    says,
    wanted,
    signal,
  }: Pick<ListenRequest, 'target' | 'client' | 'says' | 'signal'> & {
    readonly wanted: Readonly<Record<string, unknown>>;
  }): Promise<Listened> => {
    const { taskIds: _apart, ...others } = wanted;
    if ('taskIds' in wanted && Object.keys(others).length === 0)
      return { honored: { lists: new Map(), uris: new Set() }, session: undefined, end: () => {} };
    // The program that runs for this client is the one whose changes it makes.
    const isShared = target.startProgram !== undefined && !takesPart(says);
    const leased = isShared
      ? await target.leaseShared(client, signal)
      : await target.leaseSession({ client, says, forNotices: true }, signal);
    const { session } = leased;
    const holder = {};
    const subscriber = { holder, owner: ownerOf({ client }, holder) };
    let honored: Subscribed;
    try {
      honored = await subscribe(session, subscriber, wanted, signal);
    } catch (error) {
      leased.giveBack('broken');
      throw error;
    }
    return {
      honored,
      session,
      end: () => {
        if (target.startProgram)
          unsubscribeShared(session, subscriber, honored.uris, (reason) =>
            log.debug({ server: target.name, reason }, 'a subscription could not be ended'),
          );
        // Over HTTP its subscriptions end with the session.
        leased.giveBack('broken');
      },
    };
  };

  return async ({ target, client, says, message, signal }: ListenRequest): Promise<Response> => {
    const { id } = message;
    const wanted = isObject(message['params']) ? message['params']['notifications'] : undefined;
    if ((typeof id !== 'string' && typeof id !== 'number') || !isObject(wanted))
      return rpcErrorResponse(message, 400, -32_602, 'Invalid params: "notifications" says what to listen to.');
    if ('taskIds' in wanted && !knowsTasks(metaIn(message))) return missingTasks(message);
    const ending = new AbortController();
    const watched = await watchTasks(wanted['taskIds'], {
      target,
      client,
      says,
      signal: AbortSignal.any([signal, ending.signal]),
    });
    const listened = await listenIn({ target, client, says, wanted, signal }).catch((error: unknown) => {
      ending.abort();
      throw error;
    });
    return streamOf({
      id,
      honored: { ...listened.honored, tasks: watched },
      session: listened.session,
      clock,
      signal,
      onEnd: () => {
        ending.abort();
        listened.end();
      },
      report: (reason) => log.debug({ server: target.name, reason }, 'a stream of notices ended'),
    });
  };
};

/** What the server was asked to tell of. */
interface Subscribed {
  /** Notices by method, and the flags that want them. */
  readonly lists: ReadonlyMap<string, string>;
  readonly uris: ReadonlySet<string>;
}

interface Listened {
  readonly honored: Subscribed;
  readonly session: SharedSession | undefined;
  readonly end: () => void;
}

/** What a client is told of. */
interface Honored extends Subscribed {
  readonly tasks: WatchedTasks;
}

const metaIn = ({ params }: ListenRequest['message']): object | undefined => {
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) ? meta : undefined;
};

// SEP-2663, "Task Status Notifications".
const missingTasks = (message: ListenRequest['message']): Response =>
  rpcErrorResponse(message, 400, -32_021, 'Who listens to tasks has to declare that it knows them.', {
    requiredCapabilities: { extensions: { [tasksExtension]: {} } },
  });

const streamOf = ({
  id,
  honored: { lists, uris, tasks },
  session,
  clock,
  signal,
  onEnd,
  report,
}: {
  readonly id: string | number;
  readonly honored: Honored;
  readonly session: SharedSession | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onEnd: () => void;
  readonly report: (reason: string) => void;
}): Response =>
  noticeStream({
    id,
    clock,
    signal,
    onEnd,
    start: ({ say, finish, over }) => {
      const notifications = {
        ...Object.fromEntries([...lists.values()].map((flag) => [flag, true])),
        ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
        ...(tasks.ids.length > 0 && { taskIds: tasks.ids }),
      };
      say({ method: acknowledged, params: { notifications } });
      if (Object.keys(notifications).length === 0) return finish();
      const hear = ({ method, params }: Notice): void => {
        const { uri } = params;
        const isUpdate = method === 'notifications/resources/updated' && typeof uri === 'string' && uris.has(uri);
        if (isUpdate || lists.has(method)) say({ method, params });
      };
      tasks.hear((task) => say({ method: 'notifications/tasks', params: { ...task } }));
      session?.listen(hear, over).then(
        () => finish(),
        (error: unknown) => {
          report(messageOf(error));
          finish();
        },
      );
    },
  });
