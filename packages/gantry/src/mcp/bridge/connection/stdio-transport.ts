import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { flattenText } from '../../../text/flatten.ts';
import { depthProblem, tooDeep } from '../../wire/json-limits.ts';
import type { OverlongLine } from '../../wire/json-lines.ts';
import { createLineReader, idOfOverlong } from '../../wire/json-lines.ts';
import { toLostAnswer } from './lost-answer.ts';
import { endProcessGroup } from './process-group.ts';
import { responseTooLarge } from './response-limit.ts';

/** The program of a stdio server and how it is watched. */
export interface StdioTransportOptions {
  readonly server: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly maxResponseBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Runs a program and talks JSON-RPC with it, one message a line. Other text on its standard output is skipped with one warning; its
 * standard error is log text. The program leads a process group of its own, which `close()` ends as a whole.
 */
export const createStdioTransport = (options: StdioTransportOptions): Transport => {
  const { server, log, clock } = options;
  let child: ChildProcessWithoutNullStreams | undefined;
  let isClosed = false;
  let skipped = 0;
  let ended: Promise<void> | undefined;

  /** What one message does wrong is not to end the process, which is everybody's. */
  const deliver = (message: JSONRPCMessage): void => {
    try {
      transport.onmessage?.(message);
    } catch (error) {
      transport.onerror?.(error instanceof Error ? error : new Error(messageOf(error)));
    }
  };

  const onTooDeep = (id: unknown): void => {
    const error = tooDeep(server);
    if (typeof id === 'string' || typeof id === 'number') deliver(toLostAnswer(id, error));
    else transport.onerror?.(error);
  };

  const onLine = (text: string): void => {
    if (text.trim() === '') return;
    const parsed = text.trimStart().startsWith('{') ? parseJson(text) : undefined;
    if (parsed?.ok && isObject(parsed.value) && parsed.value['jsonrpc'] === '2.0') {
      if (depthProblem(text) === undefined) deliver(parsed.value as JSONRPCMessage);
      else onTooDeep(parsed.value['id']);
      return;
    }
    skipped += 1;
    const facts = { server, skipped, line: flattenText(text, { maxChars: 200 }) };
    if (skipped === 1)
      log.warn(
        facts,
        `Server "${server}" writes text to its stdout that is no JSON-RPC message; such lines are skipped.`,
      );
    else log.debug(facts, 'a line on stdout was skipped');
  };

  const onOverlong = (line: OverlongLine): void => {
    const id = idOfOverlong(line);
    const error = responseTooLarge({ server, maxBytes: options.maxResponseBytes });
    if (id === undefined) transport.onerror?.(error);
    else deliver(toLostAnswer(id, error));
  };

  const onStderr = createLineReader(64 * 1024, {
    line: (text) => log.debug({ server, stderr: text.slice(0, 2_000) }, 'a server wrote to its standard error'),
    overlong: ({ head }) => log.debug({ server, stderr: head }, 'a server wrote a long line to its standard error'),
  });

  const launch = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const started = spawn(options.command, options.args, {
        env: options.env,
        cwd: options.cwd,
        stdio: ['pipe', 'pipe', 'pipe'],
        windowsHide: true,
        detached: process.platform !== 'win32',
      });
      child = started;
      started.once('spawn', resolve);
      started.on('error', (error: NodeJS.ErrnoException) => {
        reject(cannotStart(options, error));
        transport.onerror?.(error);
      });
      started.stdout.on('data', createLineReader(options.maxResponseBytes, { line: onLine, overlong: onOverlong }));
      started.stderr.on('data', onStderr);
      for (const stream of [started.stdin, started.stdout, started.stderr])
        stream.on('error', (error) => transport.onerror?.(error));
      // Helpers that outlive the program would hold its pipes and go on unseen.
      started.once('exit', () => {
        ended ??= endProcessGroup(started, { clock, graceMs: 0 });
      });
      started.once('close', () => {
        isClosed = true;
        transport.onclose?.();
      });
    });

  const transport: Transport & { pid: number | null; stderr: null } = {
    // The SDK tells transports of child processes by `pid` and `stderr`.
    pid: null,
    stderr: null,
    start: async () => {
      await launch();
      transport.pid = child?.pid ?? null;
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        if (!child || isClosed || !child.stdin.writable) {
          reject(
            new GantryError('server_unreachable', `The program of server "${server}" is not running.`, {
              details: { name: server },
              retry: 'same',
            }),
          );
          return;
        }
        // Some of it is what the program itself causes, by asking without end.
        if (child.stdin.writableLength > mostUnreadBytes) {
          reject(notReading(server));
          return;
        }
        child.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      }),
    close: async () => {
      if (child?.pid === undefined || isClosed) return;
      const closed = new Promise<void>((resolve) => child?.once('close', () => resolve()));
      child.stdin.end();
      ended ??= endProcessGroup(child, { clock, graceMs: 500 });
      await ended;
      child.stdout.destroy();
      child.stderr.destroy();
      await closed;
    },
  };
  return transport;
};

const mostUnreadBytes = 64 * 1024 * 1024;

const notReading = (server: string): GantryError =>
  new GantryError(
    'server_unreachable',
    `The program of server "${server}" does not read what it is sent; ${mostUnreadBytes} bytes wait for it.`,
    { details: { name: server }, retry: 'same' },
  );

const cannotStart = (options: StdioTransportOptions, error: NodeJS.ErrnoException): GantryError => {
  const why =
    error.code === 'ENOENT'
      ? `was not found${options.cwd ? ` (or its folder "${options.cwd}" is missing)` : ''}; give its full path or put it on PATH`
      : `could not be started (${error.message})`;
  return new GantryError(
    'server_unreachable',
    `The program "${options.command}" of server "${options.server}" ${why}.`,
    {
      details: { name: options.server },
      cause: error,
    },
  );
};
