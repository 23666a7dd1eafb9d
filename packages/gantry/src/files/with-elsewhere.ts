import { GantryError } from '../kernel/errors.ts';
import type { CallContext } from '../tool/context.ts';
import type { Tool } from '../tool/executor.ts';

/**
 * The tool, which tells a caller whose path lies outside of the shared folder where tools for other places are found. Without such tools, or
 * with any other failure, nothing is added.
 */
export const withElsewhere = (
  tool: Tool,
  elsewhere: ((context: CallContext) => string | undefined) | undefined,
): Tool => ({
  ...tool,
  executor: {
    ...tool.executor,
    execute: async (call, context) => {
      try {
        return await tool.executor.execute(call, context);
      } catch (error) {
        const isOutside = GantryError.is(error) && error.details['isOutside'] === true;
        const hint = isOutside ? elsewhere?.(context) : undefined;
        if (hint === undefined || !GantryError.is(error)) throw error;
        const message = `${error.message} The file tools reach this folder only; files elsewhere are for tools of MCP servers. ${hint}`;
        throw new GantryError(error.code, message, { details: error.details, cause: error });
      }
    },
  },
});
