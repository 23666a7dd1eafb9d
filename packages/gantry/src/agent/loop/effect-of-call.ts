import { typedToolName } from '../../schema/tool-name.ts';
import type { CallableTools } from '../../tool/callable-tools.ts';
import type { CallContext } from '../../tool/context.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import type { JsonObject } from '../../kernel/json.ts';

const byNameTool = 'mcp_invoke_tool';
const quietSources: ReadonlySet<string> = new Set(['memory', 'mcp:management']);

/** The tool that a call runs in the end: behind the tool that calls servers' tools by their own name, that tool. */
export const targetOfCall = (
  toolsets: Pick<CallableTools, 'find'>,
  { name, arguments: args }: { readonly name: string; readonly arguments: JsonObject },
  context: CallContext,
): ToolRegistration | undefined => {
  const registration = toolsets.find(name, context)?.registration;
  const { server_name: server, tool_name: tool } = args;
  if (name !== byNameTool || typeof server !== 'string' || typeof tool !== 'string') return registration;
  // Whatever the caller is shown: what the tool does is the same.
  const typed = toolsets.find(typedToolName(server, tool), { ...context, wrapperMode: 'eager' })?.registration;
  return typed?.target ? typed : registration;
};

/** Changes something outside; what a tool does not say counts as a change. */
export const actsOutside = ({ name, annotations, source }: ToolRegistration): boolean =>
  annotations?.readOnlyHint !== true && (name === byNameTool || !quietSources.has(source));

/** Writes to a server, or to the schedule; or runs pipelines or workers that may. */
export const isConsequential = (registration: ToolRegistration): boolean => {
  const { name, source, target, annotations } = registration;
  if (annotations?.readOnlyHint === true) return false;
  return target !== undefined || name === byNameTool || ['scheduling', 'wisp', 'worker'].includes(source);
};
