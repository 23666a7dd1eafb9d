/** How much may be kept for clients. */
export interface CrowdLimits {
  readonly inAll: number;
  readonly ofClient: number;
}

/**
 * What has to go so that there is room for one more of a client: undefined where there is some. A client that has as many as it may gives up
 * its oldest; where all have too many, whoever has the most does. `kept` begins with the oldest.
 */
export const crowdedOut = <T>(
  kept: ReadonlyMap<string, T>,
  clientOf: (one: T) => string | undefined,
  client: string | undefined,
  { inAll, ofClient }: CrowdLimits,
): string | undefined => {
  const byClient = Map.groupBy(kept, ([, one]) => clientOf(one));
  const own = byClient.get(client) ?? [];
  let crowd: typeof own = [];
  if (own.length >= ofClient) crowd = own;
  else if (kept.size >= inAll) crowd = [...byClient.values()].reduce((a, b) => (b.length > a.length ? b : a));
  return crowd[0]?.[0];
};
