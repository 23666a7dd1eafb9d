import type { RunnerName, ScriptRunner } from './runner.ts';

/** Which runner the operator wants; `auto` is the strongest that works here. */
export type RunnerSetting = 'auto' | 'sandbox' | 'landlock' | 'pyodide' | 'local' | 'kubernetes' | 'remote';

/** A runner that may or may not work on this machine. */
export interface RunnerCandidate {
  readonly name: RunnerName;
  /** Only taken when the operator names it. */
  readonly onlyByName?: boolean | undefined;
  /** Opens the runner and tries it; gives the reason, with a way out, when it does not work. */
  open(): Promise<ScriptRunner | string>;
}

/** Which runner is in force, and why. */
export interface RunnerChoice {
  /** Undefined when there is none: scripts are refused with `reason`. */
  readonly runner?: ScriptRunner | undefined;
  readonly reason: string;
  /** What was tried before and does not work. */
  readonly rejected: readonly { readonly name: RunnerName; readonly reason: string }[];
}

/** Takes the first candidate that works, or the named one and no other. */
export const chooseRunner = async (
  setting: RunnerSetting,
  candidates: readonly RunnerCandidate[],
): Promise<RunnerChoice> => {
  const wanted = candidates.filter((each) => (setting === 'auto' ? !each.onlyByName : each.name === setting));
  const rejected: { name: RunnerName; reason: string }[] = [];
  for (const candidate of wanted) {
    const opened = await candidate.open();
    if (typeof opened !== 'string') return { runner: opened, reason: reasonFor(setting, opened, rejected), rejected };
    rejected.push({ name: candidate.name, reason: opened });
  }
  const tried = rejected.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  return { reason: `No runner for scripts works here. ${tried || `There is no runner "${setting}".`}`, rejected };
};

const reasonFor = (
  setting: RunnerSetting,
  runner: ScriptRunner,
  rejected: readonly { readonly name: RunnerName; readonly reason: string }[],
): string => {
  const why =
    setting !== 'auto'
      ? 'chosen in the configuration'
      : rejected.length === 0
        ? 'the strongest there is'
        : `the strongest that works here (${rejected.map(({ name, reason }) => `${name}: ${reason}`).join('; ')})`;
  return `${runner.name}, ${why}. ${runner.isolation}.`;
};

/** One line of an installation's check-up. */
export interface ScriptsCheck {
  readonly name: string;
  readonly state: 'ok' | 'warning';
  readonly message: string;
  readonly fix?: string | undefined;
}

/** What the choice means for the installation, with the way out. */
export const checkScripts = ({ runner, reason, rejected }: RunnerChoice): ScriptsCheck => {
  const name = 'script runner';
  if (!runner)
    return {
      name,
      state: 'warning',
      message: reason,
      fix: rejected.some((each) => each.name === 'kubernetes')
        ? 'Put right what the message says about the cluster, or let scripts run here with "scripts": {"runner": "auto"}.'
        : 'Install bubblewrap and python3 ("apt-get install bubblewrap python3"), or set "scripts": {"runner": …} in the configuration.',
    };
  switch (runner.name) {
    case 'sandbox':
    case 'quickjs':
    case 'kubernetes':
    case 'remote':
      return { name, state: 'ok', message: reason };
    case 'landlock':
      return {
        name,
        state: 'warning',
        message: reason,
        fix: 'Install bubblewrap, and let this user make namespaces, for the stronger sandbox.',
      };
    case 'pyodide':
      return {
        name,
        state: 'warning',
        message: reason,
        fix: 'Isolation is limited: let no script run that you would not run yourself, or install bubblewrap.',
      };
    case 'local':
      return {
        name,
        state: 'warning',
        message: reason,
        fix: 'Scripts are not kept in at all; use this for development only.',
      };
  }
};
