import { createHash } from 'node:crypto';
import { canonicalText } from './canonical.ts';

/** SHA-256, as 64 hex digits, of a JSON value whatever the order of its keys. */
export const fingerprint = (value: unknown): string => createHash('sha256').update(canonicalText(value)).digest('hex');

/** The parts of a tool that a model is told; when one of them changes, the tool is another one. */
export interface FingerprintedTool {
  readonly name: string;
  readonly description?: string | null | undefined;
  /** The schema as it was received. Absent and null are the same; `{}` is not, and text that is no JSON counts as it is. */
  readonly inputSchema?: unknown;
}

/** The fingerprint of a tool's name, description and schema. */
export const toolFingerprint = ({ name, description, inputSchema }: FingerprintedTool): string =>
  fingerprint([name, description ?? null, inputSchema ?? null]);
