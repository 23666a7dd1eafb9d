import type { AgentSessions } from '../agent/sessions/agent-sessions.ts';
import type { Invoker } from '../invoke/invoker.ts';
import type { Clock } from '../kernel/clock.ts';
import type { NewId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { SignInStep } from '../mcp/bridge/auth/sign-ins.ts';
import type { ServerEntry } from '../mcp/bridge/config/server-entry.ts';
import type { QuestionDesk } from '../mcp/bridge/questions/question-desk.ts';
import type { TaskDesk } from '../mcp/bridge/tasks/task-desk.ts';
import type { FirstTools } from '../mcp/face/first-tools.ts';
import type { ServiceDetails } from '../mcp/wire/manage-messages.ts';
import type { ServerStatus } from '../mcp/wire/server-state.ts';
import type { WorkingMemory } from '../memory/working-memory.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { CallContext } from '../tool/context.ts';
import type { Tool } from '../tool/executor.ts';
import type { GuideShelf } from '../tool/guide.ts';
import type { ToolRegistry } from '../tool/registry.ts';
import type { ExecutionHistory } from '../toolset/execution-history.ts';
import type { Toolsets } from '../toolset/toolset.ts';
import type { TokenShelf } from './access/token-shelf.ts';
import type { DoctorReport } from './doctor/doctor-report.ts';

/** The configured MCP servers as operations see them. */
export interface ServersPort {
  /** In the order of the file of servers. */
  list(): readonly ServerStatus[];
  /** What is wrong with the file of servers, with line and column; undefined when it could be read. */
  configError?(): string | undefined;
  /** What a server offers, now or when it was last connected; undefined when that is not known. */
  details(name: string): Promise<ServiceDetails | undefined>;
  /** Connects again and lists anew: one server, or all. Resolves when their states are known. */
  refresh(name?: string): Promise<void>;
}

/** What a person may change about the configured MCP servers. All of it takes effect at once and leaves other servers alone. */
export interface ServerEditsPort {
  /**
   * Writes a new entry and connects it; resolves when the first attempt has ended, well or not.
   * @throws {GantryError} `invalid_arguments`, `config_invalid`
   */
  add(name: string, entry: ServerEntry): Promise<ServerStatus>;
  /** @throws {GantryError} `server_unknown`, `config_invalid` */
  remove(name: string): Promise<void>;
  /** @throws {GantryError} `server_unknown`, `config_invalid` */
  setEnabled(name: string, isEnabled: boolean): Promise<ServerStatus>;
  /**
   * Begins a sign-in that comes back to `redirectUrl`; without an address to go to it is done.
   * @throws {GantryError} `server_unknown`, `invalid_arguments`, `auth_required`
   */
  startSignIn(name: string, redirectUrl: string): Promise<SignInStep>;
  /** @throws {GantryError} `invalid_arguments`, `auth_required` */
  finishSignIn(answer: {
    readonly state: string;
    readonly code: string;
    readonly iss?: string | undefined;
  }): Promise<ServerStatus>;
}

/** A tool of a server that fits a query; scores compare only within one answer. */
export interface FoundTool {
  readonly entry: {
    readonly server: string;
    /** The server's own name for it. */
    readonly name: string;
    readonly tool: Pick<Tool, 'registration'>;
  };
  readonly score: number;
}

/** The schedule as operations see it. */
export interface SchedulePort {
  readonly scheduler: Omit<Scheduler, 'start' | keyof AsyncDisposable>;
  /** What is told to whoever schedules a prompt, such as that no model is configured. */
  readonly promptNote?: string | undefined;
}

/** What operations work on; the host gives it. */
export interface OperationDeps {
  readonly registry: ToolRegistry;
  readonly toolsets: Toolsets;
  readonly guides: GuideShelf;
  readonly invoker: Invoker;
  /** The tools of servers that are being connected for the first time. Absent where there is nothing to wait for. */
  readonly firstTools?: Pick<FirstTools, 'pendingForCalls'> | undefined;
  /** Absent where no bridge to MCP servers is in use. */
  readonly servers?: ServersPort | undefined;
  /** Absent where no bridge to MCP servers is in use. */
  readonly serverEdits?: ServerEditsPort | undefined;
  /** Searches the tools of servers that this caller may have; best first. Absent like `servers`. */
  readonly findTools?:
    | ((query: string, limit: number, context: CallContext) => Promise<readonly FoundTool[]>)
    | undefined;
  /** Questions of servers that wait for an answer. Absent like `servers`. */
  readonly questions?: Pick<QuestionDesk, 'list' | 'answer'> | undefined;
  /** Calls that go on in the background. Absent like `servers`. */
  readonly tasks?: Pick<TaskDesk, 'list' | 'cancel'> | undefined;
  /** The last calls of this process. Absent where they are not remembered. */
  readonly history?: Pick<ExecutionHistory, 'list' | 'stats'> | undefined;
  /** Conversations with the agent. Absent where there is none. */
  readonly sessions?: Omit<AgentSessions, keyof AsyncDisposable> | undefined;
  /** Aborts when no more can be streamed, because the surface that streams is stopping. */
  readonly ending?: AbortSignal | undefined;
  /** Access tokens of the gateway. */
  readonly tokens?: TokenShelf | undefined;
  readonly memory: Pick<WorkingMemory, 'get' | 'list'>;
  /** Absent where no schedule is in use. */
  readonly schedule?: SchedulePort | undefined;
  /** The configuration in effect with secrets masked. */
  effectiveConfig(): Readonly<Record<string, unknown>>;
  doctor(): Promise<DoctorReport>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
}
