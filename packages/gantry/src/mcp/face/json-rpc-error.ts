/** An HTTP response that says a JSON-RPC error about a message whose id is not known. */
export const jsonRpcError = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
