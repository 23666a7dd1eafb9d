import * as z from 'zod';
import { memoryQuantity } from '../../scripts/kubernetes/quantity.ts';

/** Section `scripts`: running Python and JavaScript. */
export interface ScriptsConfig {
  readonly runner: 'auto' | 'sandbox' | 'landlock' | 'pyodide' | 'local' | 'kubernetes' | 'remote';
  readonly allowLimitedIsolation: boolean;
  readonly packages: boolean;
  readonly packageIndexUrl?: string | undefined;
  readonly readSharedFolder: boolean;
  readonly maxTimeoutSeconds: number;
  readonly maxParallel: number;
  readonly warm: number;
  readonly kubernetes: KubernetesConfig;
}

/** Section `scripts.kubernetes`: the pods of the runner `kubernetes`. */
export interface KubernetesConfig {
  readonly namespace: string;
  readonly prefix: string;
  readonly image: string;
  readonly cpuLimit: string;
  readonly memoryLimit: string;
  readonly manager?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

const positive = z.number().int().positive();
const dnsLabel = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

const kubernetesConfig: z.ZodType<KubernetesConfig> = z.strictObject({
  namespace: z.string().regex(dnsLabel).default('gantry-scripts').describe('Namespace of the pods.'),
  prefix: z.string().regex(dnsLabel).max(20).default('gantry').describe('Begins the names of the pods.'),
  image: z.string().min(1).default('python:3.12-slim').describe('Image with Python 3.8 or newer as python3.'),
  cpuLimit: z
    .string()
    .regex(/^\d+m?$/)
    .default('500m')
    .describe('Processor time of a pod, as Kubernetes writes it.'),
  memoryLimit: z.string().regex(memoryQuantity).default('256Mi').describe('Memory of a pod, as Kubernetes writes it.'),
  manager: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Tells the pods of this Gantry from those of others in the namespace: at its start it deletes all that have this name. Default agent and host name.',
    ),
  kubeconfig: z.string().optional().describe('File of credentials; default as kubectl finds them.'),
  context: z.string().optional().describe('Context in that file; default the current one.'),
});

/** Section `scripts`. */
export const scriptsConfig: z.ZodType<ScriptsConfig> = z.strictObject({
  runner: z
    .enum(['auto', 'sandbox', 'landlock', 'pyodide', 'local', 'kubernetes', 'remote'])
    .default('auto')
    .describe(
      'What runs Python: auto takes the strongest sandbox that works here; local is no sandbox at all; kubernetes gives each script a pod; remote leaves it to a scripts manager on the bus, which does that.',
    ),
  allowLimitedIsolation: z
    .boolean()
    .default(false)
    .describe('Lets auto fall back to Pyodide, whose isolation is limited, where no sandbox works.'),
  packages: z.boolean().default(true).describe('Lets scripts name packages, which are installed before they run.'),
  packageIndexUrl: z.url().optional().describe('Index to install packages from; default that of pip.'),
  readSharedFolder: z.boolean().default(true).describe('Lets scripts read the shared folder.'),
  maxTimeoutSeconds: positive.default(300).describe('The most a script may ask for.'),
  maxParallel: positive.default(4).describe('Python scripts at a time.'),
  warm: z.number().int().nonnegative().default(1).describe('Sandboxed interpreters that wait for the next script.'),
  kubernetes: kubernetesConfig.prefault({}).describe('The pods of the runner kubernetes.'),
});
