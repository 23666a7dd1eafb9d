import { tasksCancel, tasksList } from '../../operations/tasks.ts';
import type { Command } from '../command-context.ts';
import { openGateway } from '../gateway.ts';
import { createPrinter } from '../output/printer.ts';

/** `gantry tasks list` */
export const listTasks: Command<[]> = async (context) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, { needs: 'none' });
  const found = await gateway.run(tasksList, {});
  printer.result(found, () =>
    found.tasks.length === 0
      ? 'No call goes on in the background.'
      : printer.table(
          ['ID', 'SERVER', 'TOOL', 'SESSION', 'STARTED', 'STATUS'],
          found.tasks.map((task) => [
            task.id,
            task.server,
            task.tool,
            task.session,
            task.startedAt,
            task.statusMessage ?? '',
          ]),
        ),
  );
  return 0;
};

/** `gantry tasks cancel ID` */
export const cancelTask: Command<[string]> = async (context, id) => {
  // Its server is told too.
  await using gateway = await openGateway(context);
  const cancelled = await gateway.run(tasksCancel, { id });
  const printer = createPrinter(context);
  printer.result(cancelled, () => printer.foreign(cancelled.message));
  return 0;
};
