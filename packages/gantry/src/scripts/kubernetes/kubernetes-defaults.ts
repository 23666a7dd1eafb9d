import { hostname } from 'node:os';
import type { KubernetesSettings } from './open-scripts-manager.ts';

/** Settings of the cluster; all have a default. */
export type KubernetesOptions = {
  readonly [Name in keyof KubernetesSettings]?: KubernetesSettings[Name] | undefined;
};

/** Completes the settings of the cluster. */
export const withKubernetesDefaults = (settings: KubernetesOptions, agent: string): KubernetesSettings => ({
  namespace: settings.namespace ?? 'gantry-scripts',
  prefix: settings.prefix ?? 'gantry',
  image: settings.image ?? 'python:3.12-slim',
  cpuLimit: settings.cpuLimit ?? '500m',
  memoryLimit: settings.memoryLimit ?? '256Mi',
  // Survives a restart in the same place, and is another one elsewhere.
  manager: settings.manager ?? `${agent}.${hostname()}`,
  kubeconfig: settings.kubeconfig,
  context: settings.context,
});
