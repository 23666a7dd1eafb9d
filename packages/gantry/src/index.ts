/** Gantry as a library: begin one with {@link createGantry}, give it tools with {@link defineTool}. */
export { createGantry } from './host/create-gantry.ts';
export type { CallOptions, Gantry, GantryBuilder, GantryOptions } from './host/create-gantry.ts';
export type { GantryConfig } from './host/config/config-schema.ts';
export { loadConfig } from './host/config/load-config.ts';

export { defineTool } from './tool/define-tool.ts';
export type { ToolReturn, ToolSpec } from './tool/define-tool.ts';
export type {
  CallContext,
  CallerKind,
  ModelFacts,
  PlatformPermissions,
  Progress,
  Tier,
  TraceContext,
} from './tool/context.ts';
export { createOpaqueIds } from './tool/opaque-ids.ts';
export type { OpaqueIds, OpaqueKind } from './tool/opaque-ids.ts';
export type { PreparedCall, Tool, ToolCall, ToolExecutor } from './tool/executor.ts';
export type { GuideShelf, ToolGuide } from './tool/guide.ts';
export { failedOutcome, textOutcome } from './tool/outcome.ts';
export type {
  Attachment,
  ContextItem,
  ContextMedia,
  Failure,
  FailureCode,
  Handle,
  Outcome,
  Part,
  ToolReport,
} from './tool/outcome.ts';
export { outcomeText } from './tool/outcome-text.ts';
export type { ToolAnnotations, ToolDefinition, ToolRegistration, ToolRequirements } from './tool/registration.ts';
export type { ToolRegistry } from './tool/registry.ts';

export type { Plugin, PluginHost, ServiceKey } from './plugin/plugin.ts';
export type { ExecutionHistory, ToolExecution, ToolStats } from './toolset/execution-history.ts';
export type { MediaStash, StashedMedia } from './memory/media-stash.ts';
export type { Toolset, Toolsets } from './toolset/toolset.ts';
export type { Invoker } from './invoke/invoker.ts';

export { GantryError } from './kernel/errors.ts';
export type { ErrorDetails, GantryErrorCode, RetryHint } from './kernel/errors.ts';
export type { Clock, Timer } from './kernel/clock.ts';
export type { Log, LogFacts } from './kernel/log.ts';
export { silentLog } from './kernel/log.ts';
