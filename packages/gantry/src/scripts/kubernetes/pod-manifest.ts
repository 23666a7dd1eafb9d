import { randomUUID } from 'node:crypto';
import { GantryError } from '../../kernel/errors.ts';
import { cpuSecondsOf } from '../process/to-result.ts';
import type { ScriptLimits } from '../runner.ts';
import { podProgram } from './pod-program.ts';

/** How pods are made. */
export interface PodSettings {
  /** Begins the names of pods. */
  readonly prefix: string;
  /** Must hold Python 3.8 or newer as `python3`. */
  readonly image: string;
  /** As Kubernetes writes quantities: `500m`. */
  readonly cpuLimit: string;
  /** `256Mi`. */
  readonly memoryLimit: string;
  /** Tells the pods of one manager from those of others. */
  readonly manager: string;
}

/** One script for a pod. */
export interface PodScript {
  readonly script: string;
  readonly inputData: string;
  readonly env: Readonly<Record<string, string>>;
  readonly callId: string;
  readonly timeoutMs: number;
  readonly limits: ScriptLimits;
}

/** A pod as it is handed to the cluster. */
export interface PodManifest {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

const appLabel = 'app';
const managerLabel = 'gantry-manager';
const callLabel = 'gantry-call';
/** The container of the script. */
export const containerName = 'script';

// Linux takes at most 128 KB for one variable, name and value together.
const maxVariableBytes = 120 * 1024;

/**
 * The pod of one script: no service account, volumes or privileges, a user that is not root, a file system that cannot be written.
 * That it has no network is up to the policy of its namespace.
 * @throws {GantryError} `invalid_arguments` for a script or an input that no variable can hold.
 */
export const podManifest = (settings: PodSettings, script: PodScript): PodManifest => {
  const { limits, timeoutMs } = script;
  for (const [what, value] of [
    ['The script', script.script],
    ['The input data', script.inputData],
  ] as const) {
    if (value.includes('\0')) throw new GantryError('invalid_arguments', `${what} must not contain NUL characters.`);
    if (Buffer.byteLength(value) > maxVariableBytes)
      throw new GantryError(
        'invalid_arguments',
        `${what} is larger than ${maxVariableBytes} bytes, which is the most that a pod can be given; make it smaller.`,
      );
  }
  const tailBytes = Math.floor(limits.keptOutputBytes / 4);
  const order = {
    timeoutMs,
    cpuSeconds: cpuSecondsOf(limits, timeoutMs),
    headBytes: limits.keptOutputBytes - tailBytes,
    tailBytes,
    maxOutputBytes: limits.maxOutputBytes,
    maxFileBytes: limits.maxFileBytes,
    env: script.env,
  };
  const bounds = { cpu: settings.cpuLimit, memory: settings.memoryLimit };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(settings.prefix, script.callId),
      labels: {
        [appLabel]: appOf(settings),
        [managerLabel]: labelValue(settings.manager),
        [callLabel]: labelValue(script.callId),
      },
    },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: Math.max(1, Math.ceil(timeoutMs / 1000)),
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: containerName,
          image: settings.image,
          command: ['python3', '-I', '-B', '-u', '-c', podProgram, JSON.stringify(order)].map(literal),
          env: [
            { name: 'GANTRY_SCRIPT', value: literal(script.script) },
            { name: 'GANTRY_INPUT', value: literal(script.inputData) },
          ],
          resources: { limits: bounds, requests: bounds },
          securityContext: {
            privileged: false,
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            runAsNonRoot: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  };
};

/** Selects the pods of scripts, those of other managers included. */
export const podSelector = (settings: PodSettings): string => `${appLabel}=${appOf(settings)}`;

/** Whether a pod with these labels belongs to the manager of the settings. */
export const isOwnPod = (labels: Readonly<Record<string, string>>, settings: PodSettings): boolean =>
  labels[managerLabel] === labelValue(settings.manager);

const appOf = ({ prefix }: PodSettings): string => `${dnsLabel(prefix, 20)}-script`;

/** `{prefix}-script-{beginning of the call}-{unique}`, at most 63 characters. */
const podName = (prefix: string, callId: string): string =>
  `${dnsLabel(prefix, 14)}-script-${dnsLabel(callId, 8)}-${randomUUID().replaceAll('-', '')}`;

/** Lower-case letters, digits and dashes, with neither end a dash. */
const dnsLabel = (text: string, maxChars: number): string => {
  const clean = text.toLowerCase().replaceAll(/[^a-z0-9-]/g, '');
  return clean.replace(/^-+/, '').slice(0, maxChars).replace(/-+$/, '') || 'x';
};

const labelValue = (text: string): string =>
  text
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, 63)
    .replace(/^[^A-Za-z0-9]+/, '')
    .replace(/[^A-Za-z0-9]+$/, '');

/** Kubernetes replaces `$(NAME)` in commands and the values of variables, and takes `$$` for a dollar. */
const literal = (text: string): string => text.replaceAll('$', '$$$$');
