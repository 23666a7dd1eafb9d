/**
 * A hand-written MCP server that costs next to nothing a call: `node upstream.ts <servers> <toolsPerServer>` serves
 * POST /s/{index}/mcp, and the first server at /mcp too, and prints its port; /s/hang/mcp never answers. `node upstream.ts stdio <toolsPerServer>`
 * is one server on standard input and output.
 */
import http from 'node:http';
import { createInterface } from 'node:readline';
import type { AddressInfo } from 'node:net';

const isProgram = process.argv[2] === 'stdio';
const servers = isProgram ? 1 : Number(process.argv[2] ?? 1);
const toolsPerServer = Number(process.argv[3] ?? 1);

const toolsOf = (server: number): object[] =>
  Array.from({ length: toolsPerServer }, (_, index) => ({
    name: index === 0 ? 'echo' : `record_${server}_${index}`,
    description:
      index === 0
        ? 'Echoes the message back'
        : `Creates or changes record ${index} of workspace ${server} and returns it with its identifiers and audit fields. Fails when the caller may not change it.`,
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string', description: 'Text' },
        id: { type: 'string', description: 'Identifier of the record' },
        priority: { type: 'string', enum: ['low', 'normal', 'high'] },
        limit: { type: 'integer', minimum: 1, maximum: 100 },
      },
    },
  }));

const lists = Array.from({ length: servers }, (_, server) => toolsOf(server));

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly message?: string } };
}

const answer = (server: number, { id, method, params }: Message): object => {
  const ok = (result: object): object => ({ jsonrpc: '2.0', id, result });
  switch (method) {
    case 'initialize':
      return ok({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: `upstream-${server}`, version: '1' },
      });
    case 'ping':
      return ok({});
    case 'tools/list':
      return ok({ tools: lists[server] });
    case 'tools/call':
      return ok({ content: [{ type: 'text', text: `Echo: ${params?.arguments?.message ?? ''}` }] });
    default:
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
  }
};

const listener = http.createServer((request, response) => {
  const name = request.url === '/mcp' ? '0' : /^\/s\/(\w+)\/mcp$/.exec(request.url ?? '')?.[1];
  if (name === 'hang') return;
  if (name === undefined || !lists[Number(name)]) {
    response.writeHead(404).end();
    return;
  }
  if (request.method !== 'POST') {
    response.writeHead(405, { allow: 'POST' }).end();
    return;
  }
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    const message = JSON.parse(body) as Message;
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const text = JSON.stringify(answer(Number(name), message));
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
  });
});
if (isProgram)
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id !== undefined) process.stdout.write(`${JSON.stringify(answer(0, message))}\n`);
  });
else listener.listen(0, '127.0.0.1', () => console.log(`listening on ${(listener.address() as AddressInfo).port}`));
