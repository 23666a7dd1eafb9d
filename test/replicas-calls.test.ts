import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openOlderClient } from './fixtures/older-request.ts';
import { sendNewer } from './fixtures/newer-request.ts';
import type { OlderTalkingServer } from './fixtures/older-talking-server.ts';
import { startOlderTalkingServer } from './fixtures/older-talking-server.ts';
import type { PostgresServer } from './fixtures/postgres-server.ts';
import { hasPostgres, startPostgresServer } from './fixtures/postgres-server.ts';
import type { Replicas } from './fixtures/replicas.ts';
import { startReplicas } from './fixtures/replicas.ts';
import { startSlowServer } from './fixtures/slow-server.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { startModernRawServer } from './fixtures/modern-raw-server.ts';
import { written } from './fixtures/raw-server.ts';
import { tappedProgram } from './fixtures/tapped-program.ts';

const generations = [
  ['2025', 'legacy'],
  ['2026', { pin: '2026-07-28' }],
] as const;
// What the server is called, and its tools, at either address.
const addresses = [
  ['/mcp', 'old__'],
  ['/mcp/old', ''],
] as const;
const cases = generations.flatMap(([year, mode]) => addresses.map(([path, prefix]) => ({ year, mode, path, prefix })));

/** A server with a tool that ends when it is cancelled. */
interface WaitingServer extends AsyncDisposable {
  readonly entry: object;
  called(): Promise<unknown>;
  cancelled(): Promise<unknown>;
}
interface Waits {
  readonly where: string;
  readonly path: string;
  readonly prefix: string;
  readonly capabilities: object;
  readonly startServer: () => Promise<WaitingServer>;
}
const canBeAsked = { elicitation: { form: {} } };

const waitsAsSdk = async (): Promise<WaitingServer> => {
  const slow = await startSlowServer();
  return {
    entry: { url: slow.url },
    called: () => slow.called,
    cancelled: () => slow.cancelled,
    [Symbol.asyncDispose]: () => slow[Symbol.asyncDispose](),
  };
};

const waitsAsNewer = async (): Promise<WaitingServer> => {
  const closed = Promise.withResolvers<void>();
  const server = await startModernRawServer('wait', (_request, response) => {
    response.on('close', closed.resolve);
    return written;
  });
  return {
    entry: { url: server.url },
    called: () => server.until('tools/call'),
    cancelled: () => closed.promise,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

const waitsAsProgram = async (): Promise<WaitingServer> => {
  const folder = makeGantryFolder();
  const program = fileURLToPath(new URL('fixtures/older-talking-program.ts', import.meta.url));
  const tapped = tappedProgram(folder.path, { program });
  return {
    entry: tapped.entry,
    called: () => expect.poll(() => tapped.timesSent('"wait"'), { timeout: 10_000 }).toBe(1),
    cancelled: () => expect.poll(() => tapped.timesSent('notifications/cancelled'), { timeout: 10_000 }).toBe(1),
    [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
  };
};

describe.skipIf(!hasPostgres)('calls that go on for longer than one request, behind three gateways', () => {
  const open = new AsyncDisposableStack();
  let database: PostgresServer;
  let older: OlderTalkingServer;
  let replicas: Replicas;
  const start = async (
    count: number,
    servers: object = { old: { id: 'aaaaaaaaaaa1', url: older.url } },
  ): Promise<Replicas> =>
    await startReplicas({
      storeUrl: await database.createDatabase(),
      count,
      servers,
      config: { mcp: { stdio: 'launch' } },
    });

  beforeAll(async () => {
    database = open.use(await startPostgresServer());
    older = open.use(await startOlderTalkingServer());
    replicas = open.use(await start(3));
  }, 120_000);
  afterAll(() => open.disposeAsync());

  const connect = async (path: string, mode: (typeof generations)[number][1]): Promise<Client> => {
    const client = new Client(
      { name: 'desk', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
    );
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: 'accept',
      content: {
        [Object.keys((params as { requestedSchema: { properties: object } }).requestedSchema.properties)[0] ?? '']:
          `to ${params.message}`,
      },
    }));
    await client.connect(new StreamableHTTPClientTransport(new URL(path, replicas.url)));
    return client;
  };
  const textOf = ({ content }: { readonly content?: unknown }): string => JSON.stringify(content);

  it.each(cases)(
    'are answered by a client of $year at $path, whichever gateway its answer reaches',
    async ({ mode, path, prefix }) => {
      const client = await connect(path, mode);
      for (let round = 0; round < 3; round += 1) {
        const answer = textOf(await client.callTool({ name: `${prefix}ask_twice`, arguments: {} }));
        expect(answer).toContain('to First?');
        expect(answer).toContain('to Second?');
      }
      await client.close();
    },
  );

  it.each(addresses)('go on at %s where they are, with what the client says elsewhere', async (path, prefix) => {
    const [first, second, third] = replicas.gateways.map(({ url }) => new URL(path, url).href);
    const call = { name: `${prefix}ask_twice`, arguments: {} };
    const one = await sendNewer(first ?? '', 'tools/call', call);
    expect(one.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { q1: { params: { message: 'First?' } } },
    });
    const { requestState } = one.result ?? {};
    const two = await sendNewer(second ?? '', 'tools/call', {
      ...call,
      requestState,
      inputResponses: { q1: { action: 'accept', content: { first: 'a' } } },
    });
    expect(two.result).toMatchObject({ inputRequests: { q1: { params: { message: 'Second?' } } } });
    const three = await sendNewer(third ?? '', 'tools/call', {
      ...call,
      requestState: two.result?.['requestState'],
      inputResponses: { q1: { action: 'decline' } },
    });
    expect(textOf(three.result ?? {})).toMatch(/accept.*"a.*decline/);
    const again = await sendNewer(third ?? '', 'tools/call', { ...call, requestState, inputResponses: {} });
    expect(again.error?.message).toContain('Call again without requestState');
  });

  const waiters: readonly Waits[] = [
    { where: 'at /mcp, in the lean lane', path: '/mcp', prefix: 'slow__', capabilities: {}, startServer: waitsAsSdk },
    {
      where: 'at /mcp, where it can be asked',
      path: '/mcp',
      prefix: 'slow__',
      capabilities: canBeAsked,
      startServer: waitsAsSdk,
    },
    { where: 'at a server of 2026', path: '/mcp/slow', prefix: '', capabilities: {}, startServer: waitsAsNewer },
    {
      where: 'at a program of 2025',
      path: '/mcp/slow',
      prefix: '',
      capabilities: canBeAsked,
      startServer: waitsAsProgram,
    },
  ];
  it.each(waiters.flatMap((waits) => [true, false].map((isOver) => ({ ...waits, isOver }))))(
    'of a client of 2025 $where are cancelled when another gateway is told (the session is over: $isOver)',
    async ({ path, prefix, capabilities, startServer, isOver }) => {
      await using slow = await startServer();
      await using own = await start(2, { slow: { id: 'aaaaaaaaaaa2', ...slow.entry } });
      const [first, second] = own.gateways.map(({ url }) => new URL(path, url));
      const client = await openOlderClient(first as URL, capabilities);
      // A call that was cancelled may be told so, or nothing at all until its gateway stops.
      const called = client.call(5, `${prefix}wait`).catch(() => 'no answer');
      await slow.called();
      if (isOver) expect(await client.end(second as URL)).toBe(200);
      else await client.send(second as URL, { method: 'notifications/cancelled', params: { requestId: 5 } });
      await slow.cancelled();
      await own[Symbol.asyncDispose]();
      await called;
    },
  );

  it('are said to be gone soon after their gateway was killed', async () => {
    await using own = await start(2);
    const [first, second] = own.gateways;
    const states: unknown[] = [];
    for (const [path, prefix] of addresses) {
      const asking = await sendNewer(new URL(path, first?.url).href, 'tools/call', {
        name: `${prefix}ask`,
        arguments: {},
      });
      states.push(asking.result?.['requestState']);
    }
    await first?.kill();
    for (const [index, [path, prefix]] of addresses.entries()) {
      const answer = await sendNewer(new URL(path, second?.url).href, 'tools/call', {
        name: `${prefix}ask`,
        arguments: {},
        requestState: states[index],
        inputResponses: { q1: { action: 'decline' } },
      });
      expect(answer.error?.message).toContain('Call again without requestState');
    }
  }, 60_000);

  describe('while their client waits at another gateway for what comes of its answers', () => {
    /** Answers a question at the second gateway of two, in a call that the first holds; the call waits then. */
    const answered = async (stack: AsyncDisposableStack, path: string, prefix: string) => {
      const talker = stack.use(await startOlderTalkingServer());
      const own = stack.use(await start(2, { old: { id: 'aaaaaaaaaaa1', url: talker.url } }));
      const [first, second] = own.gateways;
      const call = { name: `${prefix}ask_and_wait`, arguments: {} };
      const asked = await sendNewer(new URL(path, first?.url).href, 'tools/call', call);
      const { requestState } = asked.result ?? {};
      const leaving = new AbortController();
      const answer = sendNewer(
        new URL(path, second?.url).href,
        'tools/call',
        { ...call, requestState, inputResponses: { q1: { action: 'accept', content: { may: 'yes' } } } },
        { signal: leaving.signal },
      );
      answer.catch(() => undefined);
      await talker.waiting;
      return { talker, holder: first, answer, leave: () => leaving.abort() };
    };

    it.each(addresses)('are said to be lost at %s when the gateway that holds them is killed', async (path, prefix) => {
      await using stack = new AsyncDisposableStack();
      const { holder, answer } = await answered(stack, path, prefix);
      await holder?.kill();
      // Within the 10 s that a process is taken to live after its last word, and the 2.5 s between two looks.
      expect((await answer).error?.message).toContain('The process that held this call has ended');
    });

    it.each(addresses)('end at their server at %s when that client goes', async (path, prefix) => {
      await using stack = new AsyncDisposableStack();
      const { talker, answer, leave } = await answered(stack, path, prefix);
      leave();
      await expect(answer).rejects.toThrow();
      await talker.givenUp;
    });
  });
});
