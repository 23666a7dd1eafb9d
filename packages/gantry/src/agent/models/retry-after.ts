/**
 * How long a provider asks to wait before the next request, in ms; undefined where it does not say. A date counts from the provider's own.
 * (RFC 9110, 10.2.3; `retry-after-ms` is OpenAI's.)
 */
export const retryAfterMs = (headers: Readonly<Record<string, string>> | undefined): number | undefined => {
  const exact = Number.parseFloat(headers?.['retry-after-ms'] ?? '');
  if (exact >= 0) return exact;
  const given = headers?.['retry-after'];
  if (given === undefined) return undefined;
  const ms = /^\s*[\d.]+\s*$/.test(given)
    ? Number.parseFloat(given) * 1000
    : Date.parse(given) - Date.parse(headers?.['date'] ?? '');
  return ms >= 0 ? ms : undefined;
};
