/** The same request, given up by another signal. Its body has been read. */
export const withSignal = (request: Request, signal: AbortSignal): Request =>
  new Request(request.url, { method: request.method, headers: request.headers, signal });
