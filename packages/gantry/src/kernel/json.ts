/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
/** A JSON object; `undefined` members count as absent. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** True for a plain object: not null, not a list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses JSON text, or gives the reason why it is not JSON. */
export const parseJson = (text: string): { ok: true; value: unknown } | { ok: false; reason: string } => {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, reason: (error as Error).message };
  }
};

/** Freezes a JSON value at every depth and returns it; stops at what is frozen already. Any depth is allowed. */
export const deepFreeze = <T>(value: T): T => {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next) || ArrayBuffer.isView(next)) continue;
    Object.freeze(next);
    for (const member of Object.values(next)) if (typeof member === 'object') open.push(member);
  }
  return value;
};
