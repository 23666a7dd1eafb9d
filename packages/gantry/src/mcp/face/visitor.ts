import type { FaceMode } from './face-mode.ts';

/** Who speaks on a connection or in a request, and how it wants tools to be offered. */
export interface Visitor {
  /** Identity of the client, where it has one. */
  readonly client?: string | undefined;
  readonly mode: FaceMode;
}
