import type { ServerResponse } from 'node:http';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { LoopbackServer } from '../../fixtures/listen-on-loopback.ts';
import { listenOnLoopback } from '../../fixtures/listen-on-loopback.ts';
import { writeEvent } from '../../fixtures/raw-server.ts';
import { differences, expectationPerRow, unmentioned } from '../lib/compare.ts';
import { asText, rowsOf } from '../lib/read-cases.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

const defaultBody = 'The start of what the server says about it.';

/** The first answers of a server → whether the older SSE transport is tried, and what is said otherwise. */
export const httpProbe: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  refuseUnread(input, 'the input', ['rows', 'postInitialize', 'body']);
  refuseUnread(expect, 'the expectation', ['fallsBackToSse', 'errorShownFor']);
  const rows = rowsOf(fieldCase);
  const wanted = expectationPerRow(expect['fallsBackToSse'], rows.length);
  const errors = isObject(expect['errorShownFor']) ? expect['errorShownFor'] : {};
  const problems: string[] = [];
  for (const [index, row] of rows.entries()) {
    if (!isObject(row)) throw new NotCovered(`row ${index} is no object`);
    refuseUnread(row, `row ${index}`, ['postInitialize', 'body']);
    const { postInitialize: answer, body = defaultBody } = row;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    await using server = await startProbedServer(answer, text);
    await using served = await startServed({ field: { url: server.url } }, { connectRetryCount: 0 });
    await served.servers.ready();
    const subject = `row ${index} (${asText(answer)})`;
    if (wanted[index] !== undefined)
      problems.push(...differences(`${subject}: falls back to SSE`, server.wasAskedForSse(), wanted[index]));
    if (wanted[index] === true)
      problems.push(...differences(`${subject}: state`, served.status('field').state, 'connected'));
    const error = errors[asText(answer)];
    if (error !== undefined) {
      const words = asText(error)
        .split(/\s+and\s+/)
        .map((word) => (/^(?:the )?start of the body$/.test(word) ? text.slice(0, 20) : word));
      problems.push(...unmentioned(`${subject}: error`, served.status('field').lastError ?? '', words));
    }
  }
  return problems;
};

interface ProbedServer extends LoopbackServer {
  wasAskedForSse(): boolean;
}

/** A server of 2024 whose address answers each POST as told. */
const startProbedServer = async (answer: unknown, body: string): Promise<ProbedServer> => {
  const isRefused = typeof answer === 'string' && /refused|network|reset/i.test(answer);
  if (!isRefused && typeof answer !== 'number') throw new NotCovered(`the answer ${asText(answer)} cannot be given`);
  let stream: ServerResponse | undefined;
  const loopback = await listenOnLoopback((request, response) => {
    if (request.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.write('event: endpoint\ndata: /messages\n\n');
      return;
    }
    if (isRefused) return void request.socket.destroy();
    if (request.url !== '/messages') return void response.writeHead(answer as number).end(body);
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      response.writeHead(202).end();
      const { id, method } = JSON.parse(text) as { id?: unknown; method: string };
      if (id !== undefined && stream) writeEvent(stream, { jsonrpc: '2.0', id, ...answerOf(method) });
    });
  });
  return { ...loopback, wasAskedForSse: () => stream !== undefined };
};

const answerOf = (method: string): { result: unknown } | { error: unknown } => {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: '2024-11-05',
          capabilities: { tools: {} },
          serverInfo: { name: 'old', version: '1' },
        },
      };
    case 'tools/list':
      return { result: { tools: [] } };
    default:
      return { error: { code: -32_601, message: 'Method not found' } };
  }
};
