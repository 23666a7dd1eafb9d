import { GantryError } from '../../../kernel/errors.ts';
import type { Tool } from '../../../tool/executor.ts';
import type { ManageClient } from '../manage-client.ts';
import { isSessionRun } from './answer-question.ts';
import { managementTool, textArgument } from './management-tool.ts';

/** `mcp_cancel_task`: stops a background task that this session started. */
export const cancelTask = (manage: Pick<ManageClient, 'cancelTask'>): Tool =>
  managementTool({
    name: 'mcp_cancel_task',
    description: 'Stops a background task that a call of yours started. Its result will not come.',
    properties: { task_id: { type: 'string', description: 'As the result that started it gave it.' } },
    required: ['task_id'],
    available: isSessionRun,
    execute: async (args, context) => {
      const taskId = textArgument(args, 'task_id');
      if (taskId === '')
        throw new GantryError('invalid_arguments', 'Give "task_id", as the result that started it gave it.');
      const { message } = await manage.cancelTask({ taskId, sessionId: context.namespace });
      return message;
    },
  });
