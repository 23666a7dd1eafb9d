import type { CallContext } from '../../tool/context.ts';

/** Whether a caller may know that a server is there. One that it may not is to it as one that does not exist. */
export type KnowsServer = (context: CallContext, server: string) => boolean;
