import { join } from 'node:path';
import type { Plugin, ServiceKey } from '../plugin/plugin.ts';
import { createVolume } from '../volume/volume.ts';
import type { RunnerChoice, RunnerSetting } from './choose-runner.ts';
import { chooseRunner } from './choose-runner.ts';
import { createQuickjsRunner } from './javascript/create-quickjs-runner.ts';
import { kubernetesCandidate } from './kubernetes/kubernetes-candidate.ts';
import type { KubernetesOptions } from './kubernetes/kubernetes-defaults.ts';
import { withKubernetesDefaults } from './kubernetes/kubernetes-defaults.ts';
import { quantityBytes } from './kubernetes/quantity.ts';
import { pythonRunners } from './python-runners.ts';
import { remoteCandidate } from './remote/remote-candidate.ts';
import type { ScriptLimits, ScriptRunner } from './runner.ts';
import { defaultScriptLimits } from './runner.ts';
import { scriptTools } from './script-tools.ts';
import { scriptsGuide } from './scripts-guide.ts';

/** How the plugin is used. */
export interface ScriptsOptions {
  /** Which runner Python scripts get; default `auto`, the strongest sandbox that works. `local` is no sandbox. */
  readonly runner?: RunnerSetting | undefined;
  /** Lets `auto` fall back to Pyodide, whose isolation is limited. Default false. */
  readonly allowLimitedIsolation?: boolean | undefined;
  /** Lets scripts ask for packages. Default true. */
  readonly packages?: boolean | undefined;
  /** Index to install packages from; default the installer's own. */
  readonly packageIndexUrl?: string | undefined;
  /** Lets scripts read the shared folder. Default true. */
  readonly readSharedFolder?: boolean | undefined;
  readonly limits?: Partial<ScriptLimits> | undefined;
  /** Default 300. */
  readonly maxTimeoutSeconds?: number | undefined;
  /** Python scripts at a time. Default 4. */
  readonly maxParallel?: number | undefined;
  /** Sandboxed interpreters that wait for the next script, once the first has run. Default 1. */
  readonly warm?: number | undefined;
  /** How pods are made, for the runner `kubernetes`. */
  readonly kubernetes?: KubernetesOptions | undefined;
}

/** The runners of a Gantry, for those who show them or run scripts themselves. */
export interface ScriptRunners {
  /** Chooses on the first use. */
  python(): Promise<RunnerChoice>;
  readonly javascript: ScriptRunner;
}

/** Under this key the plugin provides {@link ScriptRunners}. */
export const scriptRunners: ServiceKey<ScriptRunners> = { name: 'scripts.runners' };

/** Lets models run Python in a sandbox and JavaScript in an embedded engine. */
export const scripts = (options: ScriptsOptions = {}): Plugin => ({
  name: 'scripts',
  setup: (gantry) => {
    const { clock, log, sharedDir } = gantry;
    const { runner = 'auto', packages = true, readSharedFolder = true, maxTimeoutSeconds = 300 } = options;
    let isHidden = false;
    // A scripts manager runs them in pods too.
    const isInCluster = runner === 'kubernetes' || runner === 'remote';
    const maxTimeoutMs = maxTimeoutSeconds * 1000;
    const cluster = withKubernetesDefaults(options.kubernetes ?? {}, gantry.agent);
    const { bus, agent } = gantry;
    const { limits, maxParallel } = options;
    const local = pythonRunners({
      clock,
      hostEnv: process.env,
      packages: packages
        ? { folder: join(gantry.dataDir, 'script-packages'), indexUrl: options.packageIndexUrl }
        : undefined,
      readable: readSharedFolder ? [sharedDir] : [],
      limits: options.limits,
      maxParallel: options.maxParallel,
      warm: options.warm,
      allowLimitedIsolation: options.allowLimitedIsolation,
      onHidden: (folders) => {
        isHidden = true;
        log.warn(
          { folders },
          'scripts cannot read the shared folder: their users may not enter it; put it where all may go',
        );
      },
    });
    const candidates = [
      ...local,
      kubernetesCandidate({ bus, agent, clock, log, settings: cluster, limits, maxParallel, maxTimeoutMs }),
      remoteCandidate({ bus, agent, clock, log }),
    ];
    if (runner === 'local')
      log.warn(
        {},
        'scripts run without a sandbox, with the environment and files of this process; use this for development only',
      );

    let choosing: Promise<RunnerChoice> | undefined;
    let chosen: RunnerChoice | undefined;
    const choose = async (): Promise<RunnerChoice> => {
      chosen = await chooseRunner(runner, candidates);
      const facts = { runner: chosen.runner?.name, rejected: chosen.rejected };
      if (chosen.runner) log.info(facts, `runner for scripts: ${chosen.reason}`);
      else log.warn(facts, chosen.reason);
      return chosen;
    };
    // Trying a runner takes a moment, so it waits for the first script.
    const python = (): Promise<RunnerChoice> => (choosing ??= choose());
    const javascript = createQuickjsRunner({ clock, maxParallel: options.maxParallel });

    const volume = createVolume(sharedDir);
    for (const tool of scriptTools({ python, javascript, volume, maxTimeoutSeconds, savesFiles: !isInCluster }))
      gantry.tools.register(tool.registration, tool.executor);
    gantry.guides.add(
      scriptsGuide(() => ({
        limits: {
          ...defaultScriptLimits,
          ...options.limits,
          ...(isInCluster && { memoryBytes: quantityBytes(cluster.memoryLimit) }),
        },
        maxTimeoutSeconds,
        packages: packages && !isInCluster,
        savesFiles: !isInCluster,
        readable: readSharedFolder && !isHidden && !isInCluster ? sharedDir : undefined,
        runner: chosen?.reason,
      })),
    );
    gantry.provide(scriptRunners, { python, javascript });
    gantry.onStop(async () => {
      await javascript[Symbol.asyncDispose]();
      await (await choosing)?.runner?.[Symbol.asyncDispose]();
    });
  },
});
