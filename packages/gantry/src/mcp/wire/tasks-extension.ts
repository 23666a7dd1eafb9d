/** Name of the extension of 2026-07-28 by which a call becomes a task (SEP-2663). */
export const tasksExtension = 'io.modelcontextprotocol/tasks';
