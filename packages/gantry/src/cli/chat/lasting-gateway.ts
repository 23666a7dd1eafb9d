import { GantryError } from '../../kernel/errors.ts';
import type { Gateway } from '../gateway.ts';

/** Nobody answered, so nothing has been done. */
export const isUnreached = (error: unknown): boolean =>
  GantryError.is(error) && error.code === 'execution_failed' && error.retry === 'later';

/**
 * A gateway that may be stopped and started again, at another address too, while somebody talks through it. What reached nobody is asked once
 * more of the one that is found then; everything else fails as it does.
 */
export const createLastingGateway = (
  first: Pick<Gateway, 'run' | 'url'>,
  findAgain: () => Promise<Pick<Gateway, 'run' | 'url'> | undefined>,
): Pick<Gateway, 'run'> => {
  let current = first;
  return {
    run: async (operation, input, options) => {
      try {
        return await current.run(operation, input, options);
      } catch (error) {
        if (current.url === undefined || !isUnreached(error)) throw error;
        const found = await findAgain();
        if (found?.url === undefined || found.url === current.url) throw error;
        current = found;
        return current.run(operation, input, options);
      }
    },
  };
};
