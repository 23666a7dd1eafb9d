import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAllYaml } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus } from '../packages/gantry/src/bus/bus.ts';
import { createEnvelope } from '../packages/gantry/src/bus/envelope.ts';
import { createInProcessBus } from '../packages/gantry/src/bus/in-process-bus.ts';
import { topics } from '../packages/gantry/src/bus/topics.ts';
import { configSchema } from '../packages/gantry/src/host/config/config-schema.ts';
import { readEnvironment } from '../packages/gantry/src/host/config/environment.ts';
import { createGantry, outcomeText, silentLog } from '../packages/gantry/src/index.ts';
import { systemClock as clock } from '../packages/gantry/src/kernel/clock.ts';
import { createKubernetesRunner } from '../packages/gantry/src/scripts/kubernetes/create-kubernetes-runner.ts';
import { openPodApi } from '../packages/gantry/src/scripts/kubernetes/open-pod-api.ts';
import { createRemoteRunner } from '../packages/gantry/src/scripts/remote/create-remote-runner.ts';
import { serveScripts } from '../packages/gantry/src/scripts/remote/serve-scripts.ts';
import type { ScriptRequest, ScriptResult, ScriptRunner } from '../packages/gantry/src/scripts/runner.ts';
import { scripts } from '../packages/gantry/src/scripts/scripts.ts';
import type { FakeCluster, Rule } from './fixtures/fake-cluster.ts';
import { startFakeCluster } from './fixtures/fake-cluster.ts';

const folder = mkdtempSync(join(tmpdir(), 'gantry-kubernetes-'));
afterAll(() => rmSync(folder, { recursive: true }));

const deploy = (file: string) =>
  loadAllYaml(readFileSync(join(import.meta.dirname, '../deploy/kubernetes', file), 'utf8')) as {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string };
    readonly rules?: readonly Rule[];
    readonly [key: string]: unknown;
  }[];
const role = deploy('scripts.yaml').find(({ kind }) => kind === 'Role');
const { rules = [] } = role ?? {};
const namespace = role?.metadata.namespace ?? '';

const isRunnable =
  spawnSync('/usr/bin/unshare', ['--user', '--map-root-user', '--mount', '--pid', '--fork', 'python3', '--version'])
    .status === 0;
if (!isRunnable) console.warn('skipped: scripts in pods, since this machine cannot play the node of a cluster');

let cluster: FakeCluster;
const settings = {
  namespace,
  prefix: 'gantry',
  image: 'python:3.12-slim',
  cpuLimit: '500m',
  memoryLimit: '256Mi',
  manager: 'agent.host',
};
const asked = new Set<string>();

beforeEach(async () => {
  cluster = await startFakeCluster({ namespace, rules });
});
afterEach(async () => {
  for (const each of cluster.asked) asked.add(each);
  await cluster[Symbol.asyncDispose]();
});

const openRunner = async (more: Partial<typeof settings> = {}): Promise<ScriptRunner> => {
  const own = { ...settings, ...more, kubeconfig: cluster.writeKubeconfig(join(folder, 'kubeconfig')) };
  return createKubernetesRunner({ api: await openPodApi(own, clock), pods: own, clock, log: silentLog });
};
const python = (script: string, more: Partial<ScriptRequest> = {}): ScriptRequest => ({
  interpreter: 'python',
  script,
  timeoutMs: 20_000,
  ...more,
});
const runOne = async (script: string, more: Partial<ScriptRequest> = {}): Promise<ScriptResult> => {
  await using runner = await openRunner();
  return await runner.run(python(script, more));
};

describe.skipIf(!isRunnable)('a script in a pod', () => {
  it.each([
    ['a success', 'print("ok")', { outcome: 'success', exitCode: 0, stdout: 'ok\n', stderr: '' }],
    ['an exit code', 'import sys; print("out"); sys.exit(3)', { outcome: 'failed', exitCode: 3, stdout: 'out\n' }],
    ['a script that prints nothing', 'pass', { outcome: 'success', stdout: '' }],
    ['the two streams apart', 'import sys; print("a"); print("b", file=sys.stderr)', { stdout: 'a\n', stderr: 'b\n' }],
    [
      'dollars as they are',
      'print("$HOME $(GANTRY_INPUT) $$ `id` \'\\"")',
      { stdout: '$HOME $(GANTRY_INPUT) $$ `id` \'"\n' },
    ],
    ['characters of all lengths', 'print("ü日😀")', { stdout: 'ü日😀\n' }],
    ['a failure', '1/0', { outcome: 'failed', exitCode: 1, stderr: expect.stringContaining('line 1, in <module>') }],
    [
      'nothing of the cluster in its environment',
      'import os; print(sorted(os.environ))',
      { stdout: "['GANTRY_INPUT', 'HOME', 'LANG', 'LC_CTYPE', 'PATH', 'TMPDIR', 'USER']\n" },
    ],
  ])('gives %s', async (_what, script, expected) => {
    const { stdout, ...result } = await runOne(script);
    expect({ ...result, stdout: stdout.replace("'LANG', 'PATH'", "'LANG', 'LC_CTYPE', 'PATH'") }).toMatchObject(
      expected,
    );
    expect(cluster.podNames).toEqual([]);
  });

  it('is given its input, whatever is in it', async () => {
    const script = 'import os, json; print(json.loads(os.environ["GANTRY_INPUT"])["n"], os.environ["MORE"])';
    const result = await runOne(script, { inputData: '{"n": "$(PATH)\\n$$"}', env: { MORE: '$$x' } });
    expect(result.stdout).toBe('$(PATH)\n$$ $$x\n');
  });

  it('keeps beginning and end of long output, and is ended when it writes too much', async () => {
    const long = await runOne('print("a" * 3_000_000)\nprint("end")', { limits: { keptOutputBytes: 40_000 } });
    expect(long).toMatchObject({ outcome: 'success', stdoutBytes: 3_000_005 });
    expect(long.stdout).toMatch(/^a{30000}\n\[… 2960005 of 3000005 bytes left out here …\]\na+\nend\n$/);
    const endless = await runOne('while True: print("x" * 60000)', { limits: { maxOutputBytes: 1 << 20 } });
    expect(endless).toMatchObject({ outcome: 'limit', limit: 'output' });
  });

  it('is ended at its time limit with what it has written, and with all that it started', async () => {
    const script =
      'import subprocess, time\nsubprocess.Popen(["sleep", "300"])\nprint("begun", flush=True)\ntime.sleep(300)';
    const result = await runOne(script, { timeoutMs: 1500 });
    expect(result).toMatchObject({ outcome: 'timeout', limit: 'time', stdout: 'begun\n' });
  });

  it('says that it ran out of memory', async () => {
    cluster.plan = { kind: 'oom', log: '{"s":"out","b":"YmVndW4K"}\n' };
    const result = await runOne('x = bytearray(10**10)');
    expect(result).toMatchObject({ outcome: 'limit', limit: 'memory', stdout: 'begun\n', exitCode: null });
    expect(result.message).toContain('memory limit of 256 MB');
  });

  it('gives parallel scripts their own results', async () => {
    await using runner = await openRunner();
    const results = await Promise.all([1, 2, 3, 4, 5].map((n) => runner.run(python(`print(${n})`))));
    expect(results.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n', '3\n', '4\n', '5\n']);
    expect(cluster.podNames).toEqual([]);
  });

  it('does not notice that the watch on it breaks off', async () => {
    await using runner = await openRunner();
    const running = runner.run(python('import time; time.sleep(2.5); print("there")'));
    for (let drops = 0; drops < 2; drops += 1) {
      await expect.poll(() => cluster.watches, { timeout: 10_000 }).toBe(1);
      cluster.dropWatches();
    }
    expect((await running).stdout).toBe('there\n');
  });
});

describe('the pod', () => {
  it('has no rights, no network of its own making, and a name and labels that a cluster takes', async () => {
    cluster.plan = { kind: 'exit', exitCode: 0, log: '{"exit":0,"signal":null,"ended":null,"ms":1}\n' };
    await runOne('print(1)', { callId: 'Call_Ä/42:☃ and more than fits', timeoutMs: 1500 });
    const [pod] = cluster.made;
    expect(pod?.metadata.name).toMatch(/^gantry-script-call42an-[0-9a-f]{32}$/);
    expect(pod?.metadata.labels).toEqual({
      app: 'gantry-script',
      'gantry-manager': 'agent.host',
      'gantry-call': 'Call_--42---and-more-than-fits',
    });
    expect(pod?.spec).toMatchObject({
      restartPolicy: 'Never',
      activeDeadlineSeconds: 2,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          image: 'python:3.12-slim',
          resources: { limits: { cpu: '500m', memory: '256Mi' } },
          securityContext: {
            privileged: false,
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    });
    expect(pod?.spec).not.toHaveProperty('volumes');
    // The script is data: no shell and no command line ever holds it.
    const [container] = (pod?.spec['containers'] ?? []) as { command: string[] }[];
    expect(container?.command.join(' ')).not.toContain('print(1)');
  });

  it('is given up when its image cannot be had', async () => {
    cluster.plan = { kind: 'image', reason: 'ImagePullBackOff', message: 'Back-off pulling image "python:none"' };
    await expect(runOne('print(1)')).rejects.toMatchObject({
      code: 'execution_failed',
      message: expect.stringContaining('ImagePullBackOff: Back-off pulling image "python:none"'),
    });
    expect(cluster.podNames).toEqual([]);
  });

  it('is waited for while the cluster has no room, and the answer says so when the time is over', async () => {
    const room = Promise.withResolvers<void>();
    cluster.plan = { kind: 'wait', until: room.promise };
    await using runner = await openRunner();
    const result = await runner.run(python('print(1)', { timeoutMs: 500 }));
    expect(result).toMatchObject({ outcome: 'timeout', limit: 'time' });
    expect(result.message).toContain('Unschedulable: 0/3 nodes are available');
    expect(cluster.podNames).toEqual([]);
    room.resolve();
  });

  it.skipIf(!isRunnable)('runs when there is room at last', async () => {
    const room = Promise.withResolvers<void>();
    cluster.plan = { kind: 'wait', until: room.promise };
    await using runner = await openRunner();
    const running = runner.run(python('print("late")'));
    await expect.poll(() => cluster.made.length).toBe(1);
    room.resolve();
    expect((await running).stdout).toBe('late\n');
  });

  it('is deleted when its caller gives up, and when the runner is closed', async () => {
    cluster.plan = { kind: 'wait', until: new Promise(() => {}) };
    const runner = await openRunner();
    const controller = new AbortController();
    const given = runner.run(python('print(1)'), { signal: controller.signal });
    const closed = runner.run(python('print(2)'));
    const ends = [
      expect(given).rejects.toMatchObject({ code: 'cancelled' }),
      expect(closed).rejects.toMatchObject({ code: 'stopped' }),
    ];
    await expect.poll(() => cluster.podNames.length).toBe(2);
    controller.abort();
    await expect.poll(() => cluster.podNames.length).toBe(1);
    await runner[Symbol.asyncDispose]();
    await Promise.all(ends);
    expect(cluster.podNames).toEqual([]);
    // The node of the test stops waiting with the cluster.
    cluster.plan = undefined;
  });

  it('may be deleted by somebody else, which is an answer', async () => {
    cluster.plan = { kind: 'image', reason: 'ErrImagePull', message: 'connection refused' };
    let reads = 0;
    cluster.mischief = (verb, name, response) => {
      if (verb !== 'get' || name === undefined || (reads += 1) < 2) return false;
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"not found","code":404}');
      return true;
    };
    await expect(runOne('print(1)')).rejects.toThrow(/was deleted before its script had ended/);
  });
});

describe('a cluster in trouble', () => {
  const done = '{"exit":0,"signal":null,"ended":null,"ms":1}\n';

  it('is asked again where that can help', async () => {
    cluster.plan = { kind: 'exit', exitCode: 0, log: done };
    let failures = 0;
    cluster.mischief = (verb, _name, response) => {
      if (!['get', 'delete'].includes(verb) || (failures += 1) > 3) return false;
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"message":"apiserver is shutting down"}');
      return true;
    };
    expect((await runOne('print(1)')).outcome).toBe('success');
    expect(cluster.podNames).toEqual([]);
  });

  it('may lose the answer to making a pod: the pod is deleted all the same', async () => {
    cluster.plan = { kind: 'wait', until: new Promise(() => {}) };
    cluster.mischief = (verb, _name, response) => {
      if (verb !== 'create') return false;
      // The pod is made, and the connection breaks before anybody hears of it.
      response.end = () => response.destroy();
      return false;
    };
    await expect(runOne('print(1)')).rejects.toMatchObject({ code: 'execution_failed' });
    expect(cluster.made).toHaveLength(1);
    expect(cluster.podNames).toEqual([]);
  });

  it.each([
    [
      'without rights',
      { namespace: 'elsewhere' },
      /cannot create resource "pods".* must be allowed to create, get, list, watch and delete pods/s,
    ],
  ])('says what is missing: %s', async (_what, more, message) => {
    await using runner = await openRunner(more);
    await expect(runner.run(python('print(1)'))).rejects.toThrow(message);
  });

  it('is not there', async () => {
    const runner = await openRunner();
    await cluster[Symbol.asyncDispose]();
    await expect(runner.run(python('print(1)'))).rejects.toThrow(/could not be asked \(making a pod\): .*ECONNREFUSED/);
    await runner[Symbol.asyncDispose]();
    cluster = await startFakeCluster({ namespace, rules });
  });

  it('is not configured, or has no such context', async () => {
    const kubeconfig = cluster.writeKubeconfig(join(folder, 'kubeconfig'));
    await expect(openPodApi({ namespace, kubeconfig, context: 'other' }, clock)).rejects.toMatchObject({
      code: 'config_invalid',
      message: 'There is no context "other"; known: test.',
    });
    await expect(openPodApi({ namespace, kubeconfig: join(folder, 'none') }, clock)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('cannot be read'),
    });
  });

  it('cannot be reached without the optional package, which the message names', () => {
    const without = `import { registerHooks } from 'node:module';
      registerHooks({ resolve: (name, context, next) => {
        if (name === '@kubernetes/client-node') throw new Error('Cannot find package');
        return next(name, context);
      } });`;
    const url = new URL('../packages/gantry/src/scripts/kubernetes/open-pod-api.ts', import.meta.url).href;
    const script = `const { openPodApi } = await import(${JSON.stringify(url)});
      await openPodApi({ namespace: 'x' }).catch(({ code, message }) => console.log(code, message));`;
    const hook = `data:text/javascript,${encodeURIComponent(without)}`;
    const args = ['--conditions=gantry-source', '--import', hook, '--input-type=module', '-e', script];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe(
      'package_missing Running scripts in Kubernetes needs @kubernetes/client-node; run "npm install @kubernetes/client-node".\n',
    );
  });

  it('is clean again when a manager that was killed in the middle of a script has been started anew', async () => {
    cluster.plan = { kind: 'wait', until: new Promise(() => {}) };
    const own = { ...settings, kubeconfig: cluster.writeKubeconfig(join(folder, 'kubeconfig')) };
    const program = join(import.meta.dirname, 'fixtures/pod-manager.ts');
    const args = ['--conditions=gantry-source', program, JSON.stringify(own)];
    const manager = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    await expect.poll(() => cluster.podNames.length, { timeout: 30_000 }).toBe(1);
    manager.kill('SIGKILL');
    await once(manager, 'exit');
    expect(cluster.podNames).toHaveLength(1);
    cluster.plan = { kind: 'exit', exitCode: 0, log: '{"exit":0,"signal":null,"ended":null,"ms":1}\n' };
    expect((await runOne('print(1)')).outcome).toBe('success');
    expect(cluster.podNames).toEqual([]);
  });

  it('keeps the pods of other managers until they are long over', async () => {
    const labels = { app: 'gantry-script', 'gantry-manager': 'agent.host' };
    const others = { ...labels, 'gantry-manager': 'another' };
    cluster.put({ name: 'own', labels, ageMs: 1000, activeDeadlineSeconds: 30 });
    cluster.put({ name: 'of-another', labels: others, ageMs: 60_000, activeDeadlineSeconds: 30 });
    cluster.put({ name: 'forgotten', labels: others, ageMs: 3_600_000, activeDeadlineSeconds: 30 });
    cluster.put({ name: 'foreign', labels: { app: 'shop' }, ageMs: 3_600_000, activeDeadlineSeconds: 30 });
    await using _runner = await openRunner();
    await expect.poll(() => cluster.podNames).toEqual(['of-another', 'foreign']);
  });
});

const openssl = '/usr/bin/openssl';
if (!existsSync(openssl)) console.warn('skipped: a cluster over HTTPS, since openssl is not installed');

describe.skipIf(!existsSync(openssl))('over HTTPS', () => {
  it('believes the authority that the credentials name', async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=cluster', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync(
      openssl,
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert, ...subject],
      { stdio: 'ignore' },
    );
    const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
    await cluster[Symbol.asyncDispose]();
    cluster = await startFakeCluster({ namespace, rules, tls });
    cluster.plan = { kind: 'exit', exitCode: 0, log: '{"exit":0,"signal":null,"ended":null,"ms":1}\n' };
    expect((await runOne('print(1)')).outcome).toBe('success');
  });
});

describe('the scripts manager', () => {
  const serve = async (bus: Bus, runner: ScriptRunner) =>
    serveScripts({ bus, runner, maxTimeoutMs: 300_000, source: 'manager', clock, log: silentLog });
  const ask = (bus: Bus) =>
    createRemoteRunner({ bus, agent: 'agent', clock, log: silentLog, name: 'kubernetes', isolation: 'a pod' });

  it.skipIf(!isRunnable)('runs what is asked for over the bus, each answer to its caller', async () => {
    await using bus = createInProcessBus({ log: silentLog });
    await using runner = await openRunner();
    await using _manager = await serve(bus, runner);
    await using remote = ask(bus);
    const results = await Promise.all(
      [1, 2, 3].map((n) => remote.run(python(`import sys; print(${n}); sys.exit(${n - 1})`))),
    );
    expect(results.map(({ stdout, exitCode }) => [stdout, exitCode])).toEqual([
      ['1\n', 0],
      ['2\n', 1],
      ['3\n', 2],
    ]);
  });

  it.skipIf(!isRunnable)('answers requests that name no topic and no correlation id', async () => {
    await using bus = createInProcessBus({ log: silentLog });
    await using runner = await openRunner();
    await using _manager = await serve(bus, runner);
    const answer = Promise.withResolvers<unknown>();
    await bus.subscribe('script.result', 'test', async (envelope) => {
      answer.resolve({ ...(envelope.body as object), correlationId: envelope.correlationId });
      return 'ack';
    });
    const body = { toolCallId: 'call-1', script: 'print(40 + 2)' };
    await bus.publish(
      topics.scriptInvoke,
      createEnvelope({ messageType: 'ScriptInvokeRequest', source: 'other', body }),
    );
    expect(await answer.promise).toMatchObject({
      toolCallId: 'call-1',
      correlationId: 'call-1',
      output: '42\n',
      exitCode: 0,
    });
  });

  it('answers with exit code -1 when it cannot run a script, and deletes the pod of a caller that gave up', async () => {
    await using bus = createInProcessBus({ log: silentLog });
    await using runner = await openRunner();
    await using _manager = await serve(bus, runner);
    await using remote = ask(bus);
    cluster.plan = { kind: 'image', reason: 'ImagePullBackOff', message: 'no such image' };
    await expect(remote.run(python('print(1)'))).rejects.toMatchObject({
      code: 'execution_failed',
      message: expect.stringContaining('no such image'),
    });
    cluster.plan = { kind: 'wait', until: new Promise(() => {}) };
    const controller = new AbortController();
    const given = expect(remote.run(python('print(2)'), { signal: controller.signal })).rejects.toMatchObject({
      code: 'cancelled',
    });
    await expect.poll(() => cluster.podNames.length).toBe(1);
    controller.abort();
    await given;
    await expect.poll(() => cluster.podNames).toEqual([]);
  });
});

describe.skipIf(!isRunnable)('a Gantry with the runner kubernetes', () => {
  it('runs Python in pods, and tells the model what is different there', async () => {
    const kubeconfig = cluster.writeKubeconfig(join(folder, 'kubeconfig'));
    await using gantry = await createGantry({ dataDir: join(folder, 'data'), log: silentLog })
      .use(scripts({ runner: 'kubernetes', kubernetes: { namespace, kubeconfig } }))
      .start();
    const model = { caller: 'model', namespace: 'session/1' } as const;
    const call = (args: { script: string; pip_packages?: string[] }) =>
      gantry.call('execute_python_script', args, model);
    expect(outcomeText(await call({ script: 'print(6*7)' }))).toBe('42\n');
    expect(outcomeText(await call({ script: '1', pip_packages: ['requests'] }))).toContain(
      'Packages cannot be installed in a pod',
    );
    const guide = outcomeText(await gantry.call('get_tool_guide', { name: 'scripts' }, model));
    expect(guide).toMatch(/Memory 256 MB/);
    expect(guide).toContain('Files that a script writes are lost');
    expect(cluster.podNames).toEqual([]);
  });
});

describe('deploy/kubernetes', () => {
  it('allows Gantry what it does, and no more', () => {
    const granted = rules.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    );
    expect([...asked].filter((each) => granted.includes(each)).toSorted()).toEqual(granted.toSorted());
  });

  interface Workload {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value?: string }[] }[];
      };
    };
  }
  const [objects, gateway, manager] = [deploy('scripts.yaml'), deploy('gantry.yaml'), deploy('scripts-manager.yaml')];
  const byKind = (kind: string, from = [...objects, ...gateway, ...manager]) =>
    from.filter((each) => each.kind === kind);
  const workloadOf = (from: typeof objects) => {
    const { spec } = byKind('Deployment', from)[0] as unknown as { readonly spec: Workload };
    return spec.template.spec;
  };
  const configOf = (from: typeof objects) => {
    const [container] = workloadOf(from).containers;
    const env = container?.env.map(({ name, value }) => [
      name,
      value ?? (name === 'GANTRY_BUS__URL' ? 'amqp://mq' : 'a secret of the cluster'),
    ]);
    return readEnvironment(Object.fromEntries(env ?? []));
  };

  it('binds the role to the account of the scripts manager alone, and closes the namespace to all traffic', () => {
    const [policy] = byKind('NetworkPolicy');
    expect(policy?.['spec']).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    expect(policy?.metadata.namespace).toBe(namespace);
    const [account] = byKind('ServiceAccount', manager);
    expect(workloadOf(manager).serviceAccountName).toBe(account?.metadata.name);
    expect(byKind('RoleBinding')).toMatchObject([
      {
        metadata: { namespace },
        subjects: [{ kind: 'ServiceAccount', name: account?.metadata.name, namespace: account?.metadata.namespace }],
        roleRef: { kind: 'Role', name: role?.metadata.name },
      },
    ]);
    for (const kind of ['ClusterRole', 'ClusterRoleBinding']) expect(byKind(kind)).toEqual([]);
  });

  it('gives the gateway no rights, and its account no token', () => {
    const [account] = byKind('ServiceAccount', gateway);
    const [deployment] = byKind('Deployment', gateway);
    expect(account).toMatchObject({ automountServiceAccountToken: false });
    expect(workloadOf(gateway).serviceAccountName).toBe(account?.metadata.name);
    expect(deployment).toMatchObject({ spec: { strategy: { type: 'Recreate' } } });
  });

  it('has both work over one broker, with settings that Gantry knows', () => {
    const [asking, running] = [configOf(gateway), configOf(manager)];
    expect([...asking.warnings, ...running.warnings]).toEqual([]);
    for (const { config } of [asking, running]) expect(configSchema.safeParse(config).error).toBeUndefined();
    expect(asking.config).toMatchObject({ scripts: { runner: 'remote' }, bus: { url: 'amqp://mq' } });
    expect(running.config).toMatchObject({ scripts: { kubernetes: { namespace } }, bus: { url: 'amqp://mq' } });
  });
});
