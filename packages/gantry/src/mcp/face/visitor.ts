import type { CallContext } from '../../tool/context.ts';
import type { FaceMode } from './face-mode.ts';

/** Who speaks on a connection or in a request, and how it wants tools to be offered. */
export interface Visitor {
  /** Identity of the client, where it has one. */
  readonly client?: string | undefined;
  /** The connection, where the protocol has one: a session of a 2025 client, or standard input and output. */
  readonly connection?: string | undefined;
  readonly mode: FaceMode;
  /** It reads and writes the shared folder too. */
  readonly sharesFolder?: boolean | undefined;
  /** Long results are not split for it. */
  readonly wholeResults?: boolean | undefined;
}

/** A visitor as the tool layer knows it. */
export const contextOf = ({ client, connection, mode, sharesFolder, wholeResults }: Visitor): CallContext => ({
  caller: 'client',
  client,
  connection,
  wrapperMode: mode,
  ...(sharesFolder && { sharesFolder }),
  ...(wholeResults && { wholeResults }),
});
