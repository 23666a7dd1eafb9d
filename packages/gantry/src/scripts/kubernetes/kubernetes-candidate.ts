import { messageOf } from '../../kernel/errors.ts';
import type { RunnerCandidate } from '../choose-runner.ts';
import { createRemoteRunner } from '../remote/create-remote-runner.ts';
import type { ScriptRunner } from '../runner.ts';
import { tried } from '../try-runner.ts';
import type { ScriptsManagerSettings } from './open-scripts-manager.ts';
import { openScriptsManager } from './open-scripts-manager.ts';

/** The runner in the cluster, with the scripts manager in this process. The two speak over the bus all the same. */
export const kubernetesCandidate = (options: ScriptsManagerSettings): RunnerCandidate => ({
  name: 'kubernetes',
  onlyByName: true,
  open: async () => {
    const { bus, agent, clock, log } = options;
    try {
      await using opened = new AsyncDisposableStack();
      const { name, isolation } = opened.use(await openScriptsManager(options));
      const remote = opened.use(createRemoteRunner({ bus, agent, clock, log, name, isolation }));
      const kept = opened.move();
      const runner: ScriptRunner = { ...remote, [Symbol.asyncDispose]: () => kept.disposeAsync() };
      return await tried(runner);
    } catch (error) {
      return messageOf(error);
    }
  },
});
