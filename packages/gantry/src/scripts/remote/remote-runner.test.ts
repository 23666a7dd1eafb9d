import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus } from '../../bus/bus.ts';
import type { Envelope } from '../../bus/envelope.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { createInProcessBus } from '../../bus/in-process-bus.ts';
import { topics } from '../../bus/topics.ts';
import { GantryError } from '../../kernel/errors.ts';
import { silentLog as log } from '../../kernel/log.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { ScriptRequest, ScriptResult, ScriptRunner } from '../runner.ts';
import { createRemoteRunner } from './create-remote-runner.ts';
import type { ScriptsManagerOptions } from './serve-scripts.ts';
import { serveScripts } from './serve-scripts.ts';

let clock: FakeClock;
let bus: Bus;
let manager: Omit<ScriptsManagerOptions, 'runner'>;
beforeEach(() => {
  clock = fakeClock();
  bus = createInProcessBus({ log });
  manager = { bus, maxTimeoutMs: 300_000, source: 'manager', clock, log };
});
afterEach(() => bus[Symbol.asyncDispose]());

const python: ScriptRequest = { interpreter: 'python', script: 'print(1)', timeoutMs: 30_000 };

const ok: ScriptResult = {
  outcome: 'success',
  exitCode: 0,
  stdout: 'ok\n',
  stderr: '',
  stdoutBytes: 3,
  stderrBytes: 0,
  message: 'The script succeeded.',
  durationMs: 12,
  files: [],
  filesLeftOut: [],
};

/** A runner that does what it is told, and keeps what it was asked for. */
const fakeRunner = (run: ScriptRunner['run']): ScriptRunner & { readonly requests: ScriptRequest[] } => {
  const requests: ScriptRequest[] = [];
  return {
    requests,
    name: 'kubernetes',
    isolation: 'none',
    run: (request, options) => {
      requests.push(request);
      return run(request, options);
    },
    [Symbol.asyncDispose]: async () => {},
  };
};
const untilAborted: ScriptRunner['run'] = (_request, { signal } = {}) =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
  });

const remote = () =>
  createRemoteRunner({ bus, agent: 'agent.one', clock, log, name: 'kubernetes', isolation: 'a pod' });
const serve = (runner: ScriptRunner, maxTimeoutMs = 300_000) => serveScripts({ ...manager, runner, maxTimeoutMs });
const ask = (body: unknown, more: Partial<Envelope> = {}) =>
  bus.publish(
    topics.scriptInvoke,
    createEnvelope({ messageType: 'ScriptInvokeRequest', source: 'test', body, ...more }),
  );
const cancel = (correlationId: string) =>
  bus.publish(
    topics.scriptCancel,
    createEnvelope({ messageType: 'ScriptCancel', source: 't', body: {}, correlationId }),
  );
const listen = async (topic: string): Promise<Envelope[]> => {
  const heard: Envelope[] = [];
  await bus.subscribe(topic, `test.${topic}`, async (envelope) => {
    heard.push(envelope);
    return 'ack';
  });
  return heard;
};

describe('a remote runner', () => {
  it('hands everything of a script to the manager, and its result back', async () => {
    const runner = fakeRunner(async () => ({
      ...ok,
      outcome: 'limit',
      exitCode: null,
      signal: 'SIGKILL',
      stderr: 'e',
      stdoutBytes: 999,
      limit: 'memory',
      message: 'Too much.',
    }));
    await using _manager = await serve(runner);
    await using asking = remote();
    const result = await asking.run({ ...python, inputData: 'in', packages: ['numpy==2.0'], callId: 'call-7' });
    expect(runner.requests).toEqual([
      {
        interpreter: 'python',
        script: 'print(1)',
        inputData: 'in',
        packages: ['numpy==2.0'],
        timeoutMs: 30_000,
        callId: 'call-7',
      },
    ]);
    expect(result).toMatchObject({
      outcome: 'limit',
      exitCode: null,
      signal: 'SIGKILL',
      stdout: 'ok\n',
      stderr: 'e',
      stdoutBytes: 999,
      limit: 'memory',
      message: 'Too much.',
    });
  });

  it('understands a manager that says no more than it must', async () => {
    const replies = [
      { toolCallId: 'x', output: 'out', exitCode: 3, elapsedMs: 5 },
      { toolCallId: 'x', exitCode: -1, stderr: 'no cluster', elapsedMs: 5 },
      { nonsense: true },
    ];
    await bus.subscribe(topics.scriptInvoke, 'manager', async ({ replyTo = '', correlationId }) => {
      const body = replies.shift();
      await bus.publish(
        replyTo,
        createEnvelope({ messageType: 'ScriptInvokeResponse', source: 'm', body, correlationId }),
      );
      return 'ack';
    });
    await using asking = remote();
    expect(await asking.run(python)).toMatchObject({ outcome: 'failed', exitCode: 3, stdout: 'out', stdoutBytes: 3 });
    await expect(asking.run(python)).rejects.toMatchObject({ code: 'execution_failed', message: 'no cluster' });
    await expect(asking.run(python)).rejects.toMatchObject({ code: 'execution_failed' });
  });

  it('waits ten seconds longer than the script may take, then gives up and says so; what comes later is ignored', async () => {
    const requests = await listen(topics.scriptInvoke);
    const cancels = await listen(topics.scriptCancel);
    await using asking = remote();
    const running = expect(asking.run(python)).rejects.toMatchObject({
      code: 'timeout',
      retry: 'later',
      message: expect.stringContaining('within 40 s'),
    });
    await clock.advance(39_999);
    expect(cancels).toEqual([]);
    await clock.advance(1);
    await running;
    await clock.advance(0);
    const [request] = requests;
    expect(cancels).toMatchObject([{ messageType: 'ScriptCancel', correlationId: request?.correlationId }]);
    const late = { toolCallId: 'x', output: 'late', exitCode: 0, elapsedMs: 1 };
    await bus.publish(
      request?.replyTo ?? '',
      createEnvelope({
        messageType: 'ScriptInvokeResponse',
        source: 'm',
        body: late,
        correlationId: request?.correlationId,
      }),
    );
    await clock.advance(0);
  });

  it('refuses what cannot be handed over', async () => {
    await using asking = remote();
    const code = 'invalid_arguments';
    await expect(asking.run({ ...python, interpreter: 'bash' })).rejects.toMatchObject({ code });
    await expect(asking.run({ ...python, stdin: 'x' })).rejects.toMatchObject({ code });
    await expect(asking.run({ ...python, files: [{ path: 'a', bytes: Buffer.from('x') }] })).rejects.toMatchObject({
      code,
    });
    await expect(asking.run({ ...python, packages: ['requests; rm -rf /'] })).rejects.toMatchObject({ code });
  });
});

describe('a scripts manager', () => {
  it.each([
    ['nothing', null],
    ['something else', { tool: 'x' }],
    ['no time', { toolCallId: 'x', script: '1', timeoutSeconds: 0 }],
  ])('does not answer a message that holds %s, and goes on', async (_what, body) => {
    const runner = fakeRunner(async () => ok);
    await using _manager = await serve(runner);
    const answers = await listen('script.result');
    await ask(body);
    await ask({ toolCallId: 'good', script: 'print(1)' });
    await expect.poll(() => answers.length).toBe(1);
    expect(answers).toMatchObject([
      { correlationId: 'good', body: { toolCallId: 'good', exitCode: 0, output: 'ok\n' } },
    ]);
    expect(runner.requests).toMatchObject([{ timeoutMs: 30_000 }]);
  });

  it('gives no script more time than is allowed', async () => {
    const runner = fakeRunner(async () => ok);
    await using _manager = await serve(runner, 60_000);
    const answers = await listen('script.result');
    await ask({ toolCallId: 'x', script: '1', timeoutSeconds: 9999, inputData: null, pipPackages: null });
    await expect.poll(() => answers.length).toBe(1);
    expect(runner.requests).toMatchObject([{ timeoutMs: 60_000 }]);
  });

  it.each([
    [
      'a failure that was foreseen',
      new GantryError('execution_failed', 'The pod could not be run.'),
      'The pod could not be run.',
    ],
    ['one that was not', new RangeError('boom'), 'boom'],
  ])('answers with exit code -1, never with silence: %s', async (_what, error, stderr) => {
    await using _manager = await serve(fakeRunner(() => Promise.reject(error)));
    const answers = await listen('own.topic');
    await ask({ toolCallId: 'x', script: '1' }, { replyTo: 'own.topic', correlationId: 'c1' });
    await expect.poll(() => answers.length).toBe(1);
    expect(answers).toMatchObject([{ correlationId: 'c1', body: { toolCallId: 'x', exitCode: -1, stderr } }]);
  });

  it('ends a script whose caller gave up, and no other', async () => {
    const runner = fakeRunner(untilAborted);
    await using _manager = await serve(runner);
    const answers = await listen('script.result');
    await ask({ toolCallId: 'x', script: '1' }, { correlationId: 'c1' });
    await ask({ toolCallId: 'y', script: '2' }, { correlationId: 'c2' });
    await expect.poll(() => runner.requests.length).toBe(2);
    await cancel('c1');
    await expect.poll(() => answers.length).toBe(1);
    expect(answers).toMatchObject([{ correlationId: 'c1', body: { exitCode: -1 } }]);
  });

  it('tells the callers of what runs when it stops', async () => {
    const runner = fakeRunner(untilAborted);
    const manager = await serve(runner);
    const answers = await listen('script.result');
    await ask({ toolCallId: 'x', script: '1' });
    await expect.poll(() => runner.requests.length).toBe(1);
    await manager[Symbol.asyncDispose]();
    await expect.poll(() => answers.length).toBe(1);
    expect(answers).toMatchObject([{ body: { exitCode: -1, stderr: expect.stringContaining('stopping') } }]);
  });

  it('does not begin what was given up before it had it', async () => {
    const gate = Promise.withResolvers<ScriptResult>();
    const runner = fakeRunner(() => gate.promise);
    await using _manager = await serveScripts({ ...manager, runner, concurrency: 1 });
    const answers = await listen('script.result');
    for (const id of ['a', 'b', 'c']) await ask({ toolCallId: id, script: id }, { correlationId: id });
    await expect.poll(() => runner.requests.length).toBe(1);
    await cancel('b');
    await clock.advance(0);
    gate.resolve(ok);
    await expect.poll(() => answers.map(({ correlationId }) => correlationId)).toEqual(['a', 'c']);
    expect(runner.requests.map(({ callId }) => callId)).toEqual(['a', 'c']);
  });

  it('runs a script again whose answer could not be sent, and says when an answer cannot be sent at all', async () => {
    const faults = [
      new GantryError('bus_unreachable', 'The broker is away.'),
      new GantryError('message_invalid', 'The message is too large.'),
    ];
    const flaky: Bus = {
      ...bus,
      publish: (topic, envelope) => {
        const fault = topic === 'script.result' ? faults.shift() : undefined;
        return fault ? Promise.reject(fault) : bus.publish(topic, envelope);
      },
    };
    const runner = fakeRunner(async () => ok);
    await using _manager = await serveScripts({ ...manager, bus: flaky, runner });
    const answers = await listen('script.result');
    await ask({ toolCallId: 'x', script: '1' });
    await expect.poll(() => answers.length).toBe(1);
    expect(answers).toMatchObject([{ body: { exitCode: -1, stderr: 'The message is too large.' } }]);
    expect(runner.requests).toHaveLength(2);
  });
});
