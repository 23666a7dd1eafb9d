/**
 * Requests in the middle of which a client is asked. Those of 2026-07-28 that may have rounds; servers of 2025 are held to the same, so that
 * a list which is read meanwhile is not taken for the call that asks.
 */
export const askingMethods: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
