/**
 * The door for MCP clients: Gantry's own tools at `/mcp`, and single servers at `/mcp/{server}`. What speaks the protocol itself, for own tools
 * and between generations, is loaded with the first request that needs it: it is a tenth of the memory of a gateway that only passes through
 * or is not used yet.
 */
import { endedByStop } from '../../invoke/ended-by-stop.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { KeyValue } from '../../store/key-value.ts';
import type { OpenPass } from '../wire/pass-port.ts';
import type { FirstTools } from './first-tools.ts';
import { awaitFirstTools } from './first-tools.ts';
import { createMailbox } from './mail/mailbox.ts';
import type { Sealing } from './pass/carried-state.ts';
import type { PassThroughOptions } from './pass/pass-through.ts';
import { createPassThrough } from './pass/pass-through.ts';
import { createTaskOwners } from './pass/task-owners.ts';
import type { StdioConnection } from './serve-stdio.ts';
import type { SharedSessions } from './sessions/sessions.ts';
import type { StdioOptions, ToolsFace, ToolsFaceOptions } from './tools-face.ts';
import type { Translator } from './translate/translator.ts';

/** What the face is made of. */
export interface McpFaceOptions extends Omit<ToolsFaceOptions, 'firstTools' | 'shared' | 'sealing' | 'maxBodyBytes'> {
  /**
   * Resolves when the tools of servers are there for the first time. Lists wait for it, and calls of tools that are not known, these up to 3 s
   * after the face was made. Default: nothing to wait for.
   */
  readonly firstReady?: (() => Promise<void>) | undefined;
  /** How long lists wait for that, from the making of the face on; longer than 3 s, calls do too. Default 3,000 ms. */
  readonly firstToolsPatienceMs?: number | undefined;
  /** Makes sessions known to every process on one store; default they are known here only. */
  readonly sharedSessions?:
    | (Omit<SharedSessions, 'mailbox'> & {
        /** What processes leave for each other. */
        readonly letters: KeyValue<string>;
      })
    | undefined;
  /** Reaches single servers, which are passed through; without it there are none. */
  readonly pass?:
    | ({ readonly open: OpenPass; readonly sealing: Sealing } & Pick<
        PassThroughOptions,
        'mayReach' | 'mayCall' | 'restricts'
      > & {
          /** Whose tasks of servers are. */
          readonly taskOwners?: KeyValue<string> | undefined;
          /** Results that clients of 2025 wanted as tasks, until they fetch them. */
          readonly taskResults: KeyValue<string>;
        })
    | undefined;
  /** The largest request body; default 4 MiB. */
  readonly maxBodyBytes?: number | undefined;
}

/** Gantry as an MCP server, for clients of the 2025 revisions and of 2026-07-28. Disposing closes every connection. */
export interface McpFace extends AsyncDisposable {
  /** What its calls wait for, so that those of other surfaces can too. */
  readonly firstTools: Pick<FirstTools, 'pendingForCalls'>;
  /** Serves one HTTP request. Host, Origin and token have been checked; `client` is the identity found by them. */
  handleHttp(request: Request, options?: { readonly client?: string | undefined }): Promise<Response>;
  /** Serves one HTTP request for a single server, passed through as it is. What was checked for {@link McpFace.handleHttp} was checked. */
  handlePass(request: Request, server: string, options?: { readonly client?: string | undefined }): Promise<Response>;
  /** Serves one client over the given streams, by default those of the process. */
  serveStdio(options?: StdioOptions): StdioConnection;
  /** Ends the streams on which clients only wait for notices, so that they do not hold up a server that stops. */
  endStreams(): void;
  /** Tells clients that wait for servers they are passed through to that the gateway stops, and gives their requests up. */
  endCalls(): void;
}

const patienceMs = 3_000;

/** Makes the face. */
export const createMcpFace = (options: McpFaceOptions): McpFace => {
  const { clock, log, maxBodyBytes = 4 * 1024 * 1024, sharedSessions } = options;
  const sealing = options.pass?.sealing ?? noSealing;
  const listMs = options.firstToolsPatienceMs ?? patienceMs;
  const firstTools = awaitFirstTools(clock, options.firstReady, { listMs, callMs: Math.max(listMs, patienceMs) });
  const mailbox = sharedSessions && createMailbox({ ...sharedSessions, clock, log });
  const shared = sharedSessions && mailbox && { ...sharedSessions, mailbox };
  const streams = new AbortController();
  const calls = new AbortController();

  let toolsFace: Promise<ToolsFace> | undefined;
  const openTools = async (): Promise<ToolsFace> => {
    const { createToolsFace } = await import('./tools-face.ts');
    return createToolsFace({ ...options, firstTools, shared, sealing: options.pass?.sealing, maxBodyBytes });
  };
  const tools = (): Promise<ToolsFace> => (toolsFace ??= openTools());

  let translating: Promise<Translator> | undefined;
  const openTranslator = async (): Promise<Translator> => {
    const { createTranslator } = await import('./translate/translator.ts');
    const { taskResults } = options.pass ?? noPass();
    return createTranslator({ clock, log, sealing, shared, taskResults });
  };
  const translator = (): Promise<Translator> => (translating ??= openTranslator());

  const pass = createPassThrough({
    translator: {
      modern: async (request, body, from) => await (await translator()).modern(request, body, from),
      legacy: async (request, body, from) => await (await translator()).legacy(request, body, from),
    },
    open: options.pass?.open ?? noServers,
    mayReach: options.pass?.mayReach ?? (() => true),
    mayCall: options.pass?.mayCall ?? (() => true),
    restricts: options.pass?.restricts ?? (() => false),
    admit: options.admit,
    taskOwners: options.pass?.taskOwners && createTaskOwners({ owners: options.pass.taskOwners, clock, log }),
    sealing,
    invoker: options.invoker,
    log,
    maxBodyBytes,
    ending: streams.signal,
    stopping: calls.signal,
  });

  return {
    firstTools,
    handleHttp: async (request, from) => await (await tools()).handleHttp(request, from),
    handlePass: (request, server, { client } = {}) => pass(request, server, client),
    serveStdio: (streamsOfClient) => {
      const connection = tools().then((face) => face.serveStdio(streamsOfClient));
      return {
        closed: connection.then(({ closed }) => closed),
        [Symbol.asyncDispose]: async () => await (await connection)[Symbol.asyncDispose](),
      };
    },
    endStreams: () => {
      streams.abort();
      void toolsFace?.then((face) => face.endStreams());
      void translating?.then((one) => one.endStreams());
    },
    endCalls: () => calls.abort(endedByStop()),
    [Symbol.asyncDispose]: async () => {
      firstTools[Symbol.dispose]();
      await Promise.all([dispose(toolsFace), dispose(translating)]);
      await mailbox?.[Symbol.asyncDispose]();
    },
  };
};

/** What could not be loaded has nothing to be closed, and whoever asked for it was told. */
const dispose = async (opening: Promise<AsyncDisposable> | undefined): Promise<void> => {
  const opened = await opening?.catch(() => undefined);
  await opened?.[Symbol.asyncDispose]();
};

const noPass = (): never => {
  throw new GantryError('usage', 'Nothing is passed through here, so nothing is translated.');
};

const noServers: OpenPass = async (name) => {
  throw new GantryError('server_unknown', `There is no server "${name.slice(0, 100)}" to be passed through to.`);
};

const noSealing: Sealing = {
  seal: () => {
    throw new GantryError('usage', 'Nothing is passed through here, so nothing is sealed.');
  },
  open: () => {
    throw new GantryError('usage', 'Nothing is passed through here, so nothing was sealed.');
  },
};
