import type { RunnerCandidate } from '../choose-runner.ts';
import { createRemoteRunner, type RemoteRunnerOptions } from './create-remote-runner.ts';

/**
 * The runner that leaves scripts to a scripts manager in another process. It is not tried beforehand: a manager that is away now may be
 * there for the next script.
 */
export const remoteCandidate = (options: Omit<RemoteRunnerOptions, 'name' | 'isolation'>): RunnerCandidate => ({
  name: 'remote',
  onlyByName: true,
  open: async () =>
    createRemoteRunner({
      ...options,
      name: 'remote',
      isolation: 'A scripts manager in another process runs each script in a pod of its own',
    }),
});
