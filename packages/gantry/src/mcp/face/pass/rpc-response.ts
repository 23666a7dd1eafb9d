/** An answer of Gantry's own to a message, in the form of JSON-RPC. */
export const rpcErrorResponse = (
  message: Readonly<Record<string, unknown>> | undefined,
  status: number,
  code: number,
  text: string,
  data?: Readonly<Record<string, unknown>>,
): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message: text, data }, id: message?.['id'] ?? null }, { status });

/** A result of Gantry's own; it says that it is complete, which servers of 2025 and their clients do not mind. */
export const rpcResultResponse = (
  message: Readonly<Record<string, unknown>>,
  result: Readonly<Record<string, unknown>>,
): Response =>
  Response.json({ jsonrpc: '2.0', result: { resultType: 'complete', ...result }, id: message['id'] ?? null });
