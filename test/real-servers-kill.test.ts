import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../packages/gantry/src/tool/outcome.ts';
import { outcomeText } from '../packages/gantry/src/tool/outcome-text.ts';
import type { BridgeHarness } from './fixtures/bridge-harness.ts';
import { startBridge } from './fixtures/bridge-harness.ts';
import type { TappedProgram } from './fixtures/tapped-program.ts';
import { tappedProgram } from './fixtures/tapped-program.ts';

// The public servers of the protocol, killed and started again in the middle of a thousand calls.
const everything = fileURLToPath(
  new URL('../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const filesystem = fileURLToPath(
  new URL('../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', import.meta.url),
);
const memory = fileURLToPath(
  new URL('../node_modules/@modelcontextprotocol/server-memory/dist/index.js', import.meta.url),
);
const many = 1_000;
const numbers = Array.from({ length: many }, (_, at) => at);

/** Makes a thousand calls at once, kills the server when some are answered, and gives how all of them ended. */
const killInTheMiddle = async (
  call: (at: number) => Promise<Outcome>,
  kill: () => Promise<void> | void,
): Promise<readonly Outcome[]> => {
  let answered = 0;
  const some = Promise.withResolvers<void>();
  const calls = numbers.map(async (at) => {
    const outcome = await call(at);
    answered += 1;
    if (answered === 50) some.resolve();
    return outcome;
  });
  await some.promise;
  expect(answered).toBeLessThan(many);
  await kill();
  return await Promise.all(calls);
};

/** A call that was lost says so in a way that a caller can act on. */
const expectResultsOrLosses = (outcomes: readonly Outcome[]): void => {
  for (const outcome of outcomes)
    if (outcome.status === 'failed') {
      expect(outcome.failure.code).toBe('execution_failed');
      // What may have run is not to be repeated without a look.
      expect(outcome.failure.retry).toBe(
        /carried out is unknown\. Check/.test(outcome.failure.message) ? 'never' : 'later',
      );
    } else expect(outcome.status).toBe('done');
};
const isDone = ({ status }: Outcome): boolean => status === 'done';

/** A bridge with one launched server. The calls that come after it was killed start it again. */
const launch = async (
  describeProgram: (folder: string) => TappedProgram,
): Promise<{ t: BridgeHarness; tap: TappedProgram } & AsyncDisposable> => {
  const t = await startBridge({}, { settings: { stdio: 'launch' } });
  const tap = describeProgram(t.folder);
  await t.write({ s: tap.entry });
  await t.bridge.reload();
  await t.untilState((bridge) => bridge.server('s')?.state === 'connected');
  return { t, tap, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

/** The test server of the protocol over HTTP; ended with the test. */
const startEverything = async (port: number): Promise<ChildProcess & Disposable> => {
  const child = spawn(process.execPath, [everything, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  while (!/listening/i.test(said)) said += String((await once(child.stderr, 'data'))[0]);
  child.stderr.resume();
  return Object.assign(child, { [Symbol.dispose]: () => void child.kill('SIGKILL') });
};
const killed = async (child: ChildProcess): Promise<void> => {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
};

describe('a real server that is killed in the middle of a thousand calls', () => {
  it('edits no file twice, and once each that it says it has edited (filesystem)', async () => {
    let files = '';
    await using launched = await launch((folder) => {
      files = join(folder, 'files');
      mkdirSync(files);
      for (const at of numbers) writeFileSync(join(files, `f${at}.txt`), 'x');
      return tappedProgram(folder, { program: filesystem, args: [files] });
    });
    const { t, tap } = launched;
    const edit = (at: number): Promise<Outcome> =>
      t.call('s', 'edit_file', { path: join(files, `f${at}.txt`), edits: [{ oldText: 'x', newText: 'xx' }] });
    const outcomes = await killInTheMiddle(edit, () => tap.kill());
    expectResultsOrLosses(outcomes);
    // Else nothing was in flight, and this shows nothing.
    expect(outcomes.every(isDone)).toBe(false);
    for (const [at, outcome] of outcomes.entries()) {
      const content = readFileSync(join(files, `f${at}.txt`), 'utf8');
      // A file that was being written when the server died may be empty.
      expect(isDone(outcome) ? ['xx'] : ['', 'x', 'xx']).toContain(content);
      expect(tap.timesSent(`f${at}.txt`)).toBeLessThanOrEqual(1);
    }
    expect(await t.text('s', 'read_text_file', { path: join(files, 'f0.txt') })).toMatch(/^x/);
    expect(tap.starts()).toBe(2);
  });

  it('is told of no entity twice, and has none twice (memory)', async () => {
    await using launched = await launch((folder) =>
      tappedProgram(folder, {
        program: memory,
        env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
      }),
    );
    const { t, tap } = launched;
    const create = (at: number): Promise<Outcome> =>
      t.call('s', 'create_entities', { entities: [{ name: `e${at}.`, entityType: 'thing', observations: [] }] });
    const outcomes = await killInTheMiddle(create, () => tap.kill());
    expectResultsOrLosses(outcomes);
    expect(outcomes.every(isDone)).toBe(false);
    for (const at of numbers) expect(tap.timesSent(`"e${at}."`)).toBeLessThanOrEqual(1);
    const after = await t.call('s', 'create_entities', {
      entities: [{ name: 'after', entityType: 'thing', observations: [] }],
    });
    expect(isDone(after)).toBe(true);
    const graph = JSON.parse(await t.text('s', 'read_graph')) as { entities: { name: string }[] };
    const names = graph.entities.map(({ name }) => name);
    expect(names).toContain('after');
    expect(new Set(names).size).toBe(names.length);
    expect(tap.starts()).toBe(2);
  });

  it('answers every call that may be repeated, each with its own result (everything)', async () => {
    await using launched = await launch((folder) => tappedProgram(folder, { program: everything, args: ['stdio'] }));
    const { t, tap } = launched;
    const outcomes = await killInTheMiddle(
      (at) => t.call('s', 'echo', { message: `m${at}.` }),
      () => tap.kill(),
    );
    expect(outcomes.map(outcomeText)).toEqual(numbers.map((at) => `Echo: m${at}.`));
    for (const at of numbers) expect(tap.timesSent(`"m${at}."`)).toBeLessThanOrEqual(2);
    // It answers fast: all may have been in the pipe when it was killed, and then only the next call starts it again.
    expect(outcomeText(await t.call('s', 'echo', { message: 'after.' }))).toBe('Echo: after.');
    expect(tap.starts()).toBe(2);
  });

  it('over HTTP ends every call, and is found again when it is back (everything)', async () => {
    const port = await freePort();
    using first = await startEverything(port);
    await using t = await startBridge({ s: { url: `http://127.0.0.1:${port}/mcp` } });
    await t.bridge.ready();
    const echo = (at: number): Promise<Outcome> => t.call('s', 'echo', { message: `m${at}.` });
    let second: (ChildProcess & Disposable) | undefined;
    const outcomes = await killInTheMiddle(echo, async () => {
      await killed(first);
      second = await startEverything(port);
    });
    using _second = second;
    expectResultsOrLosses(outcomes);
    for (const [at, outcome] of outcomes.entries())
      if (isDone(outcome)) expect(outcomeText(outcome)).toBe(`Echo: m${at}.`);
    await t.bridge.refresh('s');
    expect(outcomeText(await echo(0))).toBe('Echo: m0.');
  });
});

it('a real server that was started again between two calls costs the next ones nothing', async () => {
  const port = await freePort();
  using first = await startEverything(port);
  await using t = await startBridge({ s: { url: `http://127.0.0.1:${port}/mcp` } });
  await t.bridge.ready();
  await killed(first);
  using _second = await startEverything(port);
  // It answers an unknown session with status 400 where the protocol has 404.
  const outcomes = await Promise.all(numbers.slice(0, 20).map((at) => t.call('s', 'echo', { message: `m${at}.` })));
  expect(outcomes.map(outcomeText)).toEqual(numbers.slice(0, 20).map((at) => `Echo: m${at}.`));
});
