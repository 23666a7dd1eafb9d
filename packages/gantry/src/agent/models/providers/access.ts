import { http1Fetch } from '../../../net/http1-only.ts';
import type { ReachableModel } from './provider-model.ts';

interface Access {
  readonly baseURL?: string;
  readonly apiKey?: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof fetch;
}

/** How a provider of the AI SDK reaches its service. */
export const accessOf = ({
  endpoint,
  apiKey,
  headers,
}: Pick<ReachableModel, 'endpoint' | 'apiKey' | 'headers'>): Access => ({
  ...(endpoint !== undefined && { baseURL: endpoint }),
  ...(apiKey !== undefined && { apiKey }),
  headers: { ...headers },
  fetch: http1Fetch,
});
