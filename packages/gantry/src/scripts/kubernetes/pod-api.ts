import * as z from 'zod';
import type { PodManifest } from './pod-manifest.ts';

const containerState = z.object({
  waiting: z.object({ reason: z.string().optional(), message: z.string().optional() }).optional(),
  running: z.unknown().optional(),
  terminated: z
    .object({ exitCode: z.number(), reason: z.string().optional(), message: z.string().optional() })
    .optional(),
});

/** What is read of a pod. */
export const podShape: z.ZodType<Pod> = z.object({
  metadata: z.object({
    name: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    // The client library gives a date, a watch the text of one.
    creationTimestamp: z.coerce.date().optional(),
  }),
  spec: z.object({ activeDeadlineSeconds: z.number().optional() }).default({}),
  status: z
    .object({
      phase: z.string().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
      conditions: z
        .array(
          z.object({
            type: z.string(),
            status: z.string(),
            reason: z.string().optional(),
            message: z.string().optional(),
          }),
        )
        .optional(),
      containerStatuses: z.array(z.object({ state: containerState.optional() })).optional(),
    })
    .default({}),
});

/** A pod, as far as it matters here. */
export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly creationTimestamp?: Date | undefined;
  };
  readonly spec: { readonly activeDeadlineSeconds?: number | undefined };
  readonly status: {
    readonly phase?: string | undefined;
    readonly reason?: string | undefined;
    readonly message?: string | undefined;
    readonly conditions?:
      | readonly { type: string; status: string; reason?: string | undefined; message?: string | undefined }[]
      | undefined;
    readonly containerStatuses?:
      | readonly {
          state?:
            | {
                waiting?: { reason?: string | undefined; message?: string | undefined } | undefined;
                running?: unknown;
                terminated?:
                  | { exitCode: number; reason?: string | undefined; message?: string | undefined }
                  | undefined;
              }
            | undefined;
        }[]
      | undefined;
  };
}

/**
 * The part of the Kubernetes API that is used, in one namespace. Everything rejects with a `GantryError` whose message says what
 * the cluster said; `retry` is `later` where trying again makes sense.
 */
export interface PodApi {
  /** A pod of that name that is there already counts as made: it is the answer to the first try that was lost. */
  create(pod: PodManifest): Promise<void>;
  /** Undefined when there is none. */
  read(name: string): Promise<Pod | undefined>;
  list(labelSelector: string): Promise<readonly Pod[]>;
  /** What the pod's container has written, at most so many bytes. */
  log(name: string, maxBytes: number): Promise<string>;
  /** Does nothing when there is none. */
  remove(name: string): Promise<void>;
  /** Calls back at every change of the pod until the stream ends, which it does whenever the server likes, or the signal aborts. */
  watch(name: string, onChange: () => void, signal: AbortSignal): Promise<void>;
}
