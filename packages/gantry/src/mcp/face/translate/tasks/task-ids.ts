import { isObject, parseJson } from '../../../../kernel/json.ts';
import type { Sealing } from '../../pass/carried-state.ts';

const prefix = 'gantry.task.';

/** A task of a server of 2025, as its client of 2026 names it. */
export interface TaskId {
  /** The id that the server gave it. */
  readonly taskId: string;
  /** Under which a process holds it. */
  readonly name: string;
}

/** Makes the id by which a client finds its task at any process; nobody else can. */
export const sealTaskId = (sealing: Sealing, { taskId, name }: TaskId, context: string): string =>
  `${prefix}${sealing.seal(JSON.stringify({ taskId, name }), context)}`;

/** Takes apart what {@link sealTaskId} made; anything else is the server's own id. */
export const openTaskId = (sealing: Sealing, id: string, context: string): TaskId => {
  const own = { taskId: id, name: id };
  if (!id.startsWith(prefix)) return own;
  let text: string;
  try {
    text = sealing.open(id.slice(prefix.length), context);
  } catch {
    return own;
  }
  const parsed = parseJson(text);
  return parsed.ok && isObject(parsed.value) ? (parsed.value as unknown as TaskId) : own;
};
