import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FakeCluster } from './fixtures/fake-cluster.ts';
import { startFakeCluster } from './fixtures/fake-cluster.ts';
import type { GantryFolder, GantryProcess } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import type { RabbitBroker } from './fixtures/rabbit-broker.ts';
import { brokerPassword, hasBroker, startRabbitBroker } from './fixtures/rabbit-broker.ts';

const isRunnable =
  spawnSync('/usr/bin/unshare', ['--user', '--map-root-user', '--mount', '--pid', '--fork', 'python3', '--version'])
    .status === 0;

/** A scripts manager in a process of its own. Disposing kills it. */
interface ManagerProcess extends AsyncDisposable {
  readonly child: GantryProcess;
  readonly ready: Promise<string>;
  readonly exited: Promise<[number | null]>;
  stderr(): string;
}

const rules = [
  { resources: ['pods'], verbs: ['create', 'get', 'list', 'watch', 'delete'] },
  { resources: ['pods/log'], verbs: ['get'] },
];

describe.skipIf(!hasBroker || !isRunnable)('a gateway and a scripts manager over a broker', () => {
  let broker: RabbitBroker;
  let cluster: FakeCluster;
  let folder: GantryFolder;
  beforeAll(async () => {
    broker = await startRabbitBroker();
  });
  afterAll(() => broker?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    folder = makeGantryFolder();
    cluster = await startFakeCluster({ namespace: 'gantry-scripts', rules });
  });
  afterEach(async () => {
    await cluster[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const bus = () => ({ GANTRY_BUS__URL: broker.url });
  // The gateway knows nothing of the cluster.
  const serveGateway = () => folder.serve(['--port', '0'], { ...bus(), GANTRY_SCRIPTS__RUNNER: 'remote' });
  const startManager = (): ManagerProcess => {
    const child = folder.start(['serve', '--role', 'scripts-manager', '--port', '0'], {
      ...bus(),
      GANTRY_SCRIPTS__KUBERNETES__KUBECONFIG: cluster.writeKubeconfig(join(folder.path, 'kubeconfig')),
      GANTRY_SCRIPTS__KUBERNETES__MANAGER: 'the-manager',
    });
    let stderr = '';
    const ready = Promise.withResolvers<string>();
    const exited = once(child, 'exit') as Promise<[number | null]>;
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      stderr += piece;
      const [, url] = /manager is ready: .* \(GET (\S+)\/healthz\)/.exec(stderr) ?? [];
      if (url !== undefined) ready.resolve(url);
    });
    void exited.then(([code]) => ready.reject(new Error(`the scripts manager ended with ${code}: ${stderr}`)));
    ready.promise.catch(() => {});
    return {
      child,
      ready: ready.promise,
      exited,
      stderr: () => stderr,
      [Symbol.asyncDispose]: async () => {
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
        await exited;
      },
    };
  };
  const run = (script: string) =>
    folder.json(['tools', 'call', 'execute_python_script', '--args', JSON.stringify({ script })]);

  it('runs scripts, says how it is, and ends cleanly; the doctor knows of it', async () => {
    await using gateway = await serveGateway();
    const doctor = async (): Promise<unknown> => {
      const [, report] = await folder.json(['doctor']);
      return (report as { checks: { name: string }[] }).checks.find(({ name }) => name === 'broker');
    };
    expect(await doctor()).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('no scripts manager'),
      fix: expect.stringContaining('gantry serve --role scripts-manager'),
    });
    await using manager = startManager();
    const url = await manager.ready;
    const health = await fetch(`${url}/healthz`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok', broker: 'connected' }]);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/api/v1/tools`)).status).toBe(404);
    expect(await doctor()).toMatchObject({ state: 'ok', message: expect.stringContaining('1 scripts manager') });

    expect(await run('print(6*7)')).toMatchObject([0, { content: '42\n' }]);
    expect(await run('import sys; print("out"); sys.exit(3)')).toMatchObject([1, { isError: true }]);
    expect(cluster.podNames).toEqual([]);

    manager.child.kill('SIGTERM');
    expect((await manager.exited)[0]).toBe(0);
    const said =
      manager.stderr() + gateway.stderr() + JSON.stringify(await folder.json(['config', 'print'], { env: bus() }));
    expect(said).toContain(`127.0.0.1:${broker.port}`);
    expect(said).not.toContain(brokerPassword);
  });

  it('finish a script in whose middle the broker is started anew', async () => {
    await using _gateway = await serveGateway();
    await using manager = startManager();
    await manager.ready;
    const room = Promise.withResolvers<void>();
    cluster.plan = { kind: 'wait', until: room.promise };
    const running = run('print("survived")');
    await expect.poll(() => cluster.made.length, { timeout: 20_000 }).toBe(1);
    await broker.stop();
    await broker.start();
    room.resolve();
    expect(await running).toMatchObject([0, { content: 'survived\n' }]);
    expect(cluster.made).toHaveLength(1);
    expect(cluster.podNames).toEqual([]);
  });

  it('finish a script in whose middle the manager is killed, once there is another', async () => {
    await using _gateway = await serveGateway();
    await using first = startManager();
    await first.ready;
    cluster.plan = { kind: 'wait', until: new Promise(() => {}) };
    const running = run('print("by the second")');
    await expect.poll(() => cluster.made.length, { timeout: 20_000 }).toBe(1);
    first.child.kill('SIGKILL');
    await first.exited;
    cluster.plan = undefined;
    await using second = startManager();
    await second.ready;
    expect(await running).toMatchObject([0, { content: 'by the second\n' }]);
    expect(cluster.made).toHaveLength(2);
    expect(cluster.podNames).toEqual([]);
  });
});

describe('without a broker', () => {
  it.each([
    [['serve', '--role', 'scripts-manager'], {}, /"bus": \{"url".*GANTRY_BUS__URL/],
    [['serve', '--port', '0'], { GANTRY_SCRIPTS__RUNNER: 'remote' }, /GANTRY_SCRIPTS__RUNNER.*"bus"/],
    [['serve', '--port', '0'], { GANTRY_BUS__URL: 'http://user:hunter2@mq' }, /GANTRY_BUS__URL.*amqp:\/\//],
  ])('%j is refused with exit code 2, %j', async (argv, env, message) => {
    using folder = makeGantryFolder();
    const { code, stdout, stderr } = await folder.run(argv, { env });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('hunter2');
  });
});
