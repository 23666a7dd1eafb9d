/**
 * How long a `Retry-After` header asks to wait, milliseconds: seconds or an HTTP date, which may have passed. Undefined without one
 * that makes sense (RFC 9110, 10.2.3).
 */
export const retryAfterMs = (header: string | null, nowMs: number): number | undefined => {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
};
