import type { Invoker } from '../../invoke/invoker.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { NewId } from '../../kernel/ids.ts';
import type { ArgumentProvider } from '../../mcp/tools/recovery/argument-provider.ts';
import type { WorkingMemory } from '../../memory/working-memory.ts';
import type { CallableTools } from '../../tool/callable-tools.ts';
import type { CallContext } from '../../tool/context.ts';
import type { Tool } from '../../tool/executor.ts';
import type { ModelPort } from '../../tool/model-port.ts';
import type { FileVolume } from '../../volume/volume.ts';
import type { RunLoop } from '../loop/run-loop.ts';

/** What pipelines work with. */
export interface WispPorts {
  readonly callable: Pick<CallableTools, 'for' | 'find'>;
  readonly invoker: Pick<Invoker, 'invoke'>;
  /** The typed tools of a server, whose name is in any case; none when it is not connected. */
  readonly toolsOf: (server: string) => readonly Tool[];
  /** Know values of parameters that a definition left out. */
  readonly providers: readonly ArgumentProvider[];
  /** Corrects parameters. */
  readonly model: ModelPort;
  readonly runLoop: RunLoop;
  readonly memory: Pick<WorkingMemory, 'get' | 'stash'>;
  readonly volume: Pick<FileVolume, 'openFile' | 'write'>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
}

/** What the calls of a pipeline have in common. */
export interface WispRun {
  /** Namespace of the pipeline: `wisp/{id}`. */
  readonly namespace: string;
  /** Namespace of whoever started it, whose keys it may read. */
  readonly callerNamespace: string | undefined;
  readonly context: Pick<CallContext, 'workspace' | 'features' | 'permissions' | 'ids' | 'model' | 'trace'>;
}

/** The context of a call of a pipeline: it answers no questions, and no late result reaches it. */
export const callContextOf = ({ namespace, context }: WispRun, signal: AbortSignal): CallContext => ({
  ...context,
  caller: 'model',
  tier: 'low',
  namespace,
  // What is named is called, however the tools of servers are listed otherwise; and nothing is kept of it for a session.
  wrapperMode: 'eager',
  // A later step needs the whole of it, and each step keeps it in one piece.
  wholeResults: true,
  signal,
});
