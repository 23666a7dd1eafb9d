import type * as Client from '@kubernetes/client-node';
import type { ApiException, CoreV1Api, KubeConfig, V1Pod } from '@kubernetes/client-node';
import { orAborted, startDeadline } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { PodApi } from './pod-api.ts';
import { podShape } from './pod-api.ts';
import { containerName } from './pod-manifest.ts';

/** How a cluster is reached. */
export interface ClusterSettings {
  readonly namespace: string;
  /** File of credentials; default as `kubectl` finds them: `KUBECONFIG`, `~/.kube/config`, or the service account of the pod. */
  readonly kubeconfig?: string | undefined;
  /** One of the contexts in the file; default the current one. */
  readonly context?: string | undefined;
}

const requestTimeoutMs = 15_000;
// Below the 30 s after which the client library takes silence for a broken connection.
const watchSeconds = 25;

/**
 * Opens the API of a cluster with the optional package `@kubernetes/client-node`. Nothing is sent yet.
 * @throws {GantryError} `package_missing` without the package; `config_invalid` where no cluster is configured, or not that context.
 */
export const openPodApi = async (settings: ClusterSettings, clock: Clock): Promise<PodApi> => {
  const { namespace } = settings;
  const { KubeConfig, CoreV1Api, Watch } = await loadClient();
  const config = loadConfig(new KubeConfig(), settings);
  const core: CoreV1Api = config.makeApiClient(CoreV1Api);

  /** The library does not end a request that gets no answer. */
  const ask = async <T>(what: string, request: Promise<T>): Promise<T> => {
    using deadline = startDeadline(clock, requestTimeoutMs, { keepsAlive: true });
    try {
      return await orAborted(request, deadline.signal);
    } catch (error) {
      throw toGantryError(error, what, namespace);
    }
  };
  const isStatus = (error: unknown, code: number): boolean =>
    GantryError.is(error) && (error.cause as ApiException<unknown> | undefined)?.code === code;

  return {
    create: async (pod) => {
      try {
        const body = pod as unknown as V1Pod;
        await ask('making a pod', core.createNamespacedPod({ namespace, body }));
      } catch (error) {
        if (!isStatus(error, 409)) throw error;
      }
    },
    read: async (name) => {
      try {
        return podShape.parse(await ask('reading a pod', core.readNamespacedPod({ namespace, name })));
      } catch (error) {
        if (isStatus(error, 404)) return undefined;
        throw error;
      }
    },
    list: async (labelSelector) => {
      const found = await ask('listing pods', core.listNamespacedPod({ namespace, labelSelector }));
      return found.items.map((item) => podShape.parse(item));
    },
    log: (name, limitBytes) =>
      ask(
        'reading the log of a pod',
        core.readNamespacedPodLog({ namespace, name, container: containerName, limitBytes }),
      ),
    remove: async (name) => {
      try {
        await ask('deleting a pod', core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 }));
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
      }
    },
    watch: (name, onChange, signal) => {
      const ended = Promise.withResolvers<void>();
      const done = (error: unknown): void =>
        error === null || error === undefined
          ? ended.resolve()
          : ended.reject(toGantryError(error, 'watching a pod', namespace));
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
      const query = { fieldSelector: `metadata.name=${name}`, timeoutSeconds: watchSeconds };
      new Watch(config).watch(path, query, onChange, done).then((stream) => {
        if (signal.aborted) stream.abort();
        else signal.addEventListener('abort', () => stream.abort(), { once: true });
      }, done);
      return orAborted(ended.promise, signal);
    },
  };
};

const packageName = '@kubernetes/client-node';

const loadClient = async (): Promise<typeof Client> => {
  try {
    return await import('@kubernetes/client-node');
  } catch (error) {
    const install = `npm install ${packageName}`;
    throw new GantryError('package_missing', `Running scripts in Kubernetes needs ${packageName}; run "${install}".`, {
      details: { package: packageName, install },
      cause: error,
    });
  }
};

const loadConfig = (config: KubeConfig, { kubeconfig, context }: ClusterSettings): KubeConfig => {
  const invalid = (path: string, message: string, cause?: unknown): GantryError =>
    new GantryError('config_invalid', message, { details: { path: `scripts.kubernetes.${path}` }, cause });
  try {
    if (kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(kubeconfig);
  } catch (error) {
    throw invalid('kubeconfig', `The credentials of the cluster cannot be read: ${messageOf(error)}.`, error);
  }
  if (context !== undefined) {
    const known = config.getContexts().map(({ name }) => name);
    if (!known.includes(context))
      throw invalid('context', `There is no context "${context}"; known: ${known.join(', ') || 'none'}.`);
    config.setCurrentContext(context);
  }
  const cluster = config.getCurrentCluster();
  // The library falls back to this address where nothing is configured at all.
  if (!cluster || (cluster.name === 'cluster' && cluster.server === 'http://localhost:8080'))
    throw invalid(
      'kubeconfig',
      'No cluster is configured: set KUBECONFIG or "scripts": {"kubernetes": {"kubeconfig": …}}, or run Gantry in the cluster.',
    );
  return config;
};

/** Says what the cluster said, and whether that may pass. */
const toGantryError = (error: unknown, what: string, namespace: string): GantryError => {
  if (GantryError.is(error) && error.code !== 'timeout') return error;
  const status = statusOf(error);
  const said = status === undefined ? rootMessage(error) : messageIn(error) || `status ${status}`;
  const fix = status === undefined ? undefined : fixes[status]?.(namespace);
  const isPassing = status === undefined || status === 429 || status >= 500;
  return new GantryError(
    'execution_failed',
    `The cluster could not be asked (${what}): ${said}.${fix === undefined ? '' : ` ${fix}`}`,
    { retry: isPassing ? 'later' : 'never', cause: error },
  );
};

const fixes: Readonly<Record<number, (namespace: string) => string>> = {
  401: () => 'Its credentials are not valid any more.',
  403: (namespace) =>
    `In the namespace "${namespace}" Gantry must be allowed to create, get, list, watch and delete pods and to get pods/log.`,
  404: (namespace) => `Is there a namespace "${namespace}"?`,
};

const statusOf = (error: unknown): number | undefined => {
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  return [code, statusCode].find((each) => typeof each === 'number');
};

/** The API answers with a `Status` object, which the library hands on as text. */
const messageIn = (error: unknown): string => {
  const { body } = error as { body?: unknown };
  try {
    const status = (typeof body === 'string' ? JSON.parse(body) : body) as { message?: unknown } | null;
    return typeof status?.message === 'string' ? status.message.replace(/\.$/, '').slice(0, 500) : '';
  } catch {
    return typeof body === 'string' ? body.slice(0, 500) : '';
  }
};

/** `fetch failed` alone tells nobody anything; the reason is its cause. */
const rootMessage = (error: unknown): string => {
  let at = error;
  while (at instanceof Error && at.cause !== undefined) at = at.cause;
  return messageOf(at).replace(/\.$/, '');
};
