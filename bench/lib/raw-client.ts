import http from 'node:http';

/** The cheapest MCP client there is: node:http with keep-alive. A load generator, not a peer to learn from. */
export interface RawClient extends Disposable {
  request(method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** Connects with the 2025 handshake and speaks over one pool of kept connections. */
export const connectRaw = async (url: string, width = 16, token?: string): Promise<RawClient> => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: width });
  const target = new URL(url);
  let nextId = 0;
  let session: string | undefined;

  const post = (message: object): Promise<{ status: number; text: string; session: string | undefined }> =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(message);
      const request = http.request(
        target,
        {
          method: 'POST',
          agent,
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'content-length': Buffer.byteLength(body),
            'mcp-protocol-version': '2025-11-25',
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(session === undefined ? {} : { 'mcp-session-id': session }),
          },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => (text += chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              text,
              session: response.headers['mcp-session-id'] as string | undefined,
            }),
          );
        },
      );
      request.on('error', reject);
      request.end(body);
    });

  const request = async (method: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> => {
    const id = (nextId += 1);
    const answer = await post({ jsonrpc: '2.0', id, method, params });
    if (answer.status >= 300) throw new Error(`${method}: HTTP ${answer.status}: ${answer.text.slice(0, 200)}`);
    session ??= answer.session;
    const line = answer.text.startsWith('{') ? answer.text : (/^data: ?(\{.*)$/m.exec(answer.text)?.[1] ?? '');
    const message = JSON.parse(line) as { error?: { message: string }; result?: unknown };
    if (message.error) throw new Error(`${method}: ${message.error.message}`);
    return message.result;
  };

  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  });
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return { request, [Symbol.dispose]: () => agent.destroy() };
};
