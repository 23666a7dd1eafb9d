import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';
import type { Dial } from 'gantry/net';

/** An answer of the stubbed world: status, and where it sends the client. */
export interface StubAnswer {
  readonly status: number;
  readonly location?: string | undefined;
}

/** A network that is not there: connections end in this process, and are written down. */
export interface StubWire {
  readonly dial: Dial;
  /** Addresses dialled, in order. */
  readonly dialled: readonly string[];
  /** Requests that were sent, in order, as `METHOD host path`. */
  readonly requests: readonly string[];
}

/**
 * Makes a stubbed network in which every address answers, with or without TLS asked for. The n-th request of all gets `answers[n]`,
 * those past the end 200 and an empty body.
 */
export const stubWire = (answers: readonly StubAnswer[] = []): StubWire => {
  const dialled: string[] = [];
  const requests: string[] = [];
  const serve = (side: Duplex): void => {
    let received = '';
    side.setEncoding('latin1');
    side.on('data', (text: string) => {
      received += text;
      for (let end = received.indexOf('\r\n\r\n'); end !== -1; end = received.indexOf('\r\n\r\n')) {
        const [line = '', ...headers] = received.slice(0, end).split('\r\n');
        received = received.slice(end + 4);
        const [method, path] = line.split(' ');
        const host = headers
          .find((header) => /^host:/i.test(header))
          ?.slice(5)
          .trim();
        const { status, location } = answers[requests.length] ?? { status: 200 };
        requests.push(`${method} ${host} ${path}`);
        const where = location === undefined ? '' : `Location: ${Buffer.from(location).toString('latin1')}\r\n`;
        side.write(`HTTP/1.1 ${status} Stub\r\n${where}Content-Length: 0\r\n\r\n`, 'latin1');
      }
    });
  };
  const dial: Dial = (wanted, callback) => {
    dialled.push(wanted.hostname);
    const [client, server] = duplexPair();
    serve(server);
    // A stream is all of a socket that HTTP/1.1 needs.
    callback(null, client as Socket);
  };
  return { dial, dialled, requests };
};
