import { describe, expect, it } from 'vitest';
import { registryOf } from '../../testing/make-invoker.ts';
import type { CallableTools } from '../../tool/callable-tools.ts';
import type { CallContext } from '../../tool/context.ts';
import type { Tool } from '../../tool/executor.ts';
import { textOutcome } from '../../tool/outcome.ts';
import type { ToolDefinition } from '../../tool/registration.ts';
import { toRegistration } from '../../tool/registration.ts';
import { actsOutside, isConsequential, targetOfCall } from './effect-of-call.ts';

const tool = (name: string, more: Partial<ToolDefinition> = {}): Tool => ({
  registration: toRegistration({ name, description: 'd', source: 'local', ...more }),
  executor: { execute: async () => textOutcome('') },
});
const ofServer = (name: string, more: Partial<ToolDefinition> = {}): Tool =>
  tool(`wiki__${name}`, { source: 'mcp:wiki', target: { server: 'wiki', tool: name }, ...more });
const readOnlyHint = true;
const registry = registryOf(
  tool('mcp_invoke_tool', { source: 'mcp:management' }),
  tool('mcp_find_tools', { source: 'mcp:management' }),
  tool('save_to_working_memory', { source: 'memory' }),
  tool('schedule_task', { source: 'scheduling' }),
  tool('list_schedule', { source: 'scheduling', annotations: { readOnlyHint } }),
  tool('spawn_wisps', { source: 'wisp' }),
  tool('file_write', { source: 'files' }),
  ofServer('edit'),
  ofServer('read', { annotations: { readOnlyHint } }),
);
/** Tools of servers are hidden in mode `off`, as the tools a caller is shown are. */
const toolsets: Pick<CallableTools, 'find'> = {
  find: (name, { wrapperMode }) => (wrapperMode === 'off' && name.includes('__') ? undefined : registry.get(name)),
};
const context: CallContext = { caller: 'model', wrapperMode: 'off' };
const byName = (name: string) => ({
  name: 'mcp_invoke_tool',
  arguments: { server_name: 'wiki', tool_name: name },
});

describe('what a call does', () => {
  it.each([
    [byName('edit'), true, true],
    [byName('read'), false, false],
    [byName('nobody-knows'), true, true],
    [{ name: 'mcp_invoke_tool', arguments: {} }, true, true],
    [{ name: 'mcp_find_tools', arguments: {} }, false, false],
    [{ name: 'save_to_working_memory', arguments: {} }, false, false],
    [{ name: 'schedule_task', arguments: {} }, true, true],
    [{ name: 'list_schedule', arguments: {} }, false, false],
    [{ name: 'spawn_wisps', arguments: {} }, true, true],
    [{ name: 'file_write', arguments: {} }, true, false],
  ])('%j changes something: %s, and is for others to see: %s', (call, acts, isForOthers) => {
    const target = targetOfCall(toolsets, call, context);
    expect(target && [actsOutside(target), isConsequential(target)]).toEqual([acts, isForOthers]);
  });

  it('is unknown for a tool that is not there', () => {
    expect(targetOfCall(toolsets, { name: 'nope', arguments: {} }, context)).toBeUndefined();
  });
});
