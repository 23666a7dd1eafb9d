import type { Bus } from '../../bus/bus.ts';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { RunnerCandidate } from '../choose-runner.ts';
import { createRemoteRunner } from '../remote/create-remote-runner.ts';
import { serveScripts } from '../remote/serve-scripts.ts';
import type { ScriptLimits, ScriptRunner } from '../runner.ts';
import { tried } from '../try-runner.ts';
import { createKubernetesRunner } from './create-kubernetes-runner.ts';
import type { ClusterSettings } from './open-pod-api.ts';
import { openPodApi } from './open-pod-api.ts';
import type { PodSettings } from './pod-manifest.ts';

/** How scripts are run in a cluster. */
export interface KubernetesSettings extends ClusterSettings, PodSettings {}

/** What the runner in the cluster is made of. */
export interface KubernetesCandidateOptions {
  readonly bus: Bus;
  readonly agent: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: KubernetesSettings;
  readonly limits?: Partial<ScriptLimits> | undefined;
  readonly maxParallel?: number | undefined;
  readonly maxTimeoutMs: number;
}

/**
 * The runner in the cluster, with the manager that has the cluster's credentials in this process. The two speak over the bus, as they
 * do when the manager is a process of its own.
 */
export const kubernetesCandidate = (options: KubernetesCandidateOptions): RunnerCandidate => ({
  name: 'kubernetes',
  onlyByName: true,
  open: async () => {
    const { bus, agent, clock, log, settings, limits, maxParallel, maxTimeoutMs } = options;
    try {
      await using opened = new AsyncDisposableStack();
      const api = await openPodApi(settings, clock);
      const pods = opened.use(createKubernetesRunner({ api, pods: settings, clock, log, limits, maxParallel }));
      opened.use(await serveScripts({ bus, runner: pods, maxTimeoutMs, source: agent, clock, log }));
      const { name, isolation } = pods;
      const remote = opened.use(createRemoteRunner({ bus, agent, clock, log, name, isolation }));
      const kept = opened.move();
      const runner: ScriptRunner = { ...remote, [Symbol.asyncDispose]: () => kept.disposeAsync() };
      return await tried(runner);
    } catch (error) {
      return messageOf(error);
    }
  },
});
