import type { Bus } from '../../bus/bus.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { createRequester } from '../../bus/requester.ts';
import { topics } from '../../bus/topics.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { GetServiceDetails, ServiceDetails } from '../wire/manage-messages.ts';
import { manageMessageTypes } from '../wire/manage-messages.ts';

/** Asks the bridge about its servers. */
export interface ManageClient extends AsyncDisposable {
  /**
   * A server's identity, tools and prompts, with the server's own schemas.
   * @throws {GantryError} `execution_failed` with the bridge's message; `timeout` after 30 s.
   */
  details(serverName: string): Promise<ServiceDetails>;
}

const timeoutMs = 30_000;

/** Makes a client of `mcp.manage`. */
export const createManageClient = (options: {
  readonly bus: Bus;
  readonly agent: string;
  readonly log: Log;
  readonly clock: Clock;
}): ManageClient => {
  const { bus, agent, log, clock } = options;
  const requester = createRequester({
    bus,
    replyTopic: topics.mcpManageResponseOf(agent),
    subscriptionName: `${agent}.mcp-manage-response`,
    source: agent,
    log,
    clock,
  });

  return {
    details: async (serverName) => {
      const body: GetServiceDetails = { serverName };
      const headers = { [messageHeaders.contentTrust]: 'tool-request' };
      const messageType = manageMessageTypes.getDetails;
      const reply = await requester.request(topics.mcpManage, { messageType, body, headers, timeoutMs });
      if (reply.messageType === manageMessageTypes.details) return reply.body as ServiceDetails;
      const reason = isObject(reply.body) ? String(reply.body['error']) : `an answer of type ${reply.messageType}`;
      throw new GantryError('execution_failed', `The details of server "${serverName}" cannot be had: ${reason}`, {
        details: { server: serverName },
      });
    },
    [Symbol.asyncDispose]: () => requester[Symbol.asyncDispose](),
  };
};
