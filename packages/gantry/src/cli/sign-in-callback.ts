import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GantryError } from '../kernel/errors.ts';

/** What a browser brings back from a sign-in. */
export interface SignInAnswer {
  readonly state: string;
  readonly code: string;
  readonly iss?: string | undefined;
}

/** An address of this machine that a sign-in comes back to (RFC 8252 section 7.3). Disposing closes it. */
export interface SignInCallback extends AsyncDisposable {
  readonly url: string;
  /**
   * Waits for the answer to the sign-in with this state; others are turned away.
   * @throws {GantryError} `auth_required` when the sign-in was refused.
   */
  answerTo(state: string): Promise<SignInAnswer>;
}

/**
 * Listens on loopback.
 * @param port 0 takes a free one.
 * @throws {GantryError} `port_in_use`
 */
export const listenForSignIn = async (port: number): Promise<SignInCallback> => {
  const answered = Promise.withResolvers<SignInAnswer>();
  // Nobody may be waiting yet, or any more.
  answered.promise.catch(() => undefined);
  let expected: string | undefined;

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const say = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`);
    };
    if (pathname !== '/callback') return say(404, 'Nothing is here.');
    const [state, code, error] = ['state', 'code', 'error'].map((name) => searchParams.get(name));
    if (expected === undefined || state !== expected) return say(400, 'This answer belongs to no sign-in that waits.');
    if (error || !code) {
      say(400, 'The sign-in was refused. You can close this page.');
      const why = [error, searchParams.get('error_description')].filter(Boolean).join(': ').slice(0, 300);
      return answered.reject(
        new GantryError('auth_required', `The sign-in was refused${why === '' ? '' : ` (${why})`}.`),
      );
    }
    say(200, 'Signed in. You can close this page.');
    const iss = searchParams.get('iss') ?? undefined;
    return answered.resolve({ state: expected, code, ...(iss === undefined ? {} : { iss }) });
  };

  const server = createServer(handle);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new GantryError('port_in_use', `Port ${port} of 127.0.0.1 is in use; name another with "--port".`, {
              details: { host: '127.0.0.1', port },
            })
          : error,
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    answerTo: (state) => {
      expected = state;
      return answered.promise;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
};
