/**
 * The least that a proxy of MCP can do in Node: `node bare-proxy.ts <address>` parses every message, forwards it and parses the answer, and
 * prints its port. What is measured beside it costs that much at least.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const target = new URL(process.argv[2] ?? '');
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

const textOf = async (message: http.IncomingMessage): Promise<string> => {
  let text = '';
  message.setEncoding('utf8');
  for await (const chunk of message) text += chunk as string;
  return text;
};

const forward = (body: string, accept: string | undefined): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', accept, 'content-length': Buffer.byteLength(body) };
    http.request(target, { method: 'POST', agent, headers }, resolve).once('error', reject).end(body);
  });

const listener = http.createServer((request, response) => {
  const serve = async (): Promise<void> => {
    const answer = await forward(JSON.stringify(JSON.parse(await textOf(request))), request.headers.accept);
    const text = await textOf(answer);
    const body = text === '' ? '' : JSON.stringify(JSON.parse(text));
    response
      .writeHead(answer.statusCode ?? 502, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      })
      .end(body);
  };
  serve().catch((error: unknown) => response.destroy(error as Error));
});
listener.listen(0, '127.0.0.1', () => console.log(`listening on ${(listener.address() as AddressInfo).port}`));
