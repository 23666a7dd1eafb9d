import type { Client, McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import { noSdkTimeoutMs } from './sdk.ts';

const relistenAfterMs = 5_000;

/** Keeps the stream of change notices of a 2026 server open; one that ends is opened again later, and what was missed counts as a change. */
export const listenForChanges = (
  client: Client,
  name: string,
  options: { readonly clock: Clock; readonly log: Log; readonly onListChanged: () => void },
): { stop(): void } => {
  const { clock, log } = options;
  const capabilities = client.getServerCapabilities();
  const filter: SubscriptionFilter = {
    ...(capabilities?.tools?.listChanged ? { toolsListChanged: true } : {}),
    ...(capabilities?.prompts?.listChanged ? { promptsListChanged: true } : {}),
    ...(capabilities?.resources?.listChanged ? { resourcesListChanged: true } : {}),
  };
  let isStopped = Object.keys(filter).length === 0;
  let subscription: McpSubscription | undefined;

  const open = async (isFirst: boolean): Promise<void> => {
    if (isStopped) return;
    try {
      subscription = await client.listen(filter, { timeout: noSdkTimeoutMs });
    } catch (error) {
      if (!isStopped) log.debug({ server: name, reason: messageOf(error) }, 'change notices are not to be had');
      return;
    }
    if (!isFirst) options.onListChanged();
    await subscription.closed;
    if (!isStopped) clock.startTimer(relistenAfterMs, () => void open(false));
  };

  void open(true);
  return {
    stop: () => {
      isStopped = true;
      void subscription?.close();
    },
  };
};
