import type { Invoker } from '../invoke/invoker.ts';
import type { Clock } from '../kernel/clock.ts';
import type { NewId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { ServiceDetails } from '../mcp/wire/manage-messages.ts';
import type { ServerStatus } from '../mcp/wire/server-state.ts';
import type { GuideShelf } from '../tool/guide.ts';
import type { ToolRegistry } from '../tool/registry.ts';
import type { Toolsets } from '../toolset/toolset.ts';
import type { DoctorReport } from './doctor/doctor-report.ts';

/** The configured MCP servers as operations see them. */
export interface ServersPort {
  /** In the order of the file of servers. */
  list(): readonly ServerStatus[];
  /** What a connected server offers; undefined when it is not connected. */
  details(name: string): Promise<ServiceDetails | undefined>;
  /** Connects again and lists anew: one server, or all. Resolves when their states are known. */
  refresh(name?: string): Promise<void>;
}

/** What operations work on; the host gives it. */
export interface OperationDeps {
  readonly registry: ToolRegistry;
  readonly toolsets: Toolsets;
  readonly guides: GuideShelf;
  readonly invoker: Invoker;
  /** Absent where no bridge to MCP servers is in use. */
  readonly servers?: ServersPort | undefined;
  /** The configuration in effect with secrets masked. */
  effectiveConfig(): Readonly<Record<string, unknown>>;
  doctor(): Promise<DoctorReport>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
}
