import { GantryError } from '../../../kernel/errors.ts';

/** The error of an answer that policy has to judge and cannot read: `execution_failed`. */
export const unreadable = (server: string): GantryError =>
  new GantryError(
    'execution_failed',
    `Server "${server}" said something that cannot be read as one message of MCP, so it was not passed on. The call may have run.`,
    { details: { name: server } },
  );
