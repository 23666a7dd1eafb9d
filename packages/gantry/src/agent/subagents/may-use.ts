import type { ToolRegistration } from '../../tool/registration.ts';

/** Delegating further, and what outlives the task, is for the agent that talks with the user. */
const withheldSources: ReadonlySet<string> = new Set(['subagent', 'scheduling', 'a2a']);
const withheldTools: ReadonlySet<string> = new Set(['mcp_register_server', 'mcp_unregister_server']);

/** Whether a subagent is given the tool. */
export const mayUse = ({ name, source }: ToolRegistration): boolean =>
  !withheldSources.has(source) && !withheldTools.has(name);
