import type { Bus } from '../../bus/bus.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { serveScripts } from '../remote/serve-scripts.ts';
import type { ScriptLimits, ScriptRunner } from '../runner.ts';
import { createKubernetesRunner } from './create-kubernetes-runner.ts';
import type { ClusterSettings } from './open-pod-api.ts';
import { openPodApi } from './open-pod-api.ts';
import type { PodSettings } from './pod-manifest.ts';

/** How scripts are run in a cluster. */
export interface KubernetesSettings extends ClusterSettings, PodSettings {}

/** What a scripts manager with a cluster is made of. */
export interface ScriptsManagerSettings {
  readonly bus: Bus;
  /** Who answers on the bus. */
  readonly agent: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: KubernetesSettings;
  readonly limits?: Partial<ScriptLimits> | undefined;
  readonly maxParallel?: number | undefined;
  /** The most that a request may ask for. */
  readonly maxTimeoutMs: number;
  /** Requests that it takes at once; default all, of which it runs `maxParallel`. */
  readonly concurrency?: number | undefined;
}

/** A scripts manager that serves the bus. */
export interface ScriptsManager extends AsyncDisposable, Pick<ScriptRunner, 'name' | 'isolation'> {}

/**
 * Opens the one part that has the credentials of the cluster: it runs what is asked for on the bus, in pods. Nothing of it is needed
 * where scripts are asked for, so it may as well be in a process of its own.
 * @throws {GantryError} `package_missing`, `config_invalid`.
 */
export const openScriptsManager = async (options: ScriptsManagerSettings): Promise<ScriptsManager> => {
  const { bus, agent, clock, log, settings, limits, maxParallel, maxTimeoutMs, concurrency } = options;
  await using opened = new AsyncDisposableStack();
  const api = await openPodApi(settings, clock);
  const runner = opened.use(createKubernetesRunner({ api, pods: settings, clock, log, limits, maxParallel }));
  opened.use(await serveScripts({ bus, runner, maxTimeoutMs, concurrency, source: agent, clock, log }));
  const kept = opened.move();
  return { name: runner.name, isolation: runner.isolation, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
