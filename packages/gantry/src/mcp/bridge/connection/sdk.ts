import type * as sdk from '@modelcontextprotocol/client';

/** The MCP SDK, loaded when the first server is connected: start-up does not pay for it. */
export const loadSdk = (): Promise<typeof sdk> => import('@modelcontextprotocol/client');

/** Timers of the SDK are switched off with the longest delay there is: the bridge keeps the time itself, on its own clock. */
export const noSdkTimeoutMs: number = 2 ** 31 - 1;
