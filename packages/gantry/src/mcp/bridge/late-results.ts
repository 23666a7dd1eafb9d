import type { Bus } from '../../bus/bus.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { topics } from '../../bus/topics.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { Outcome } from '../../tool/outcome.ts';
import { outcomeText } from '../../tool/outcome-text.ts';
import type { StashText } from '../../tool/ports.ts';
import type { McpLateResult } from '../wire/late-message.ts';
import { lateResultType } from '../wire/late-message.ts';

/** A result that comes late, and whose it is. */
export interface LateResult extends Pick<McpLateResult, 'namespace' | 'kind' | 'id' | 'server' | 'tool'> {
  readonly outcome: Outcome;
}

/** Keeps the result where its session can read it, then announces it; both may happen more than once, and neither is left out. */
export type DeliverLate = (late: LateResult) => Promise<void>;

const keptForMs = 24 * 3_600_000;
const inlineChars = 4_000;

/** Makes the delivery of a bridge. */
export const createLateResults =
  (options: {
    readonly bus: Bus;
    readonly agent: string;
    readonly stash: StashText | undefined;
    readonly log: Log;
  }): DeliverLate =>
  async ({ namespace, kind, id, server, tool, outcome }) => {
    const { bus, agent, stash, log } = options;
    const text = outcomeText(outcome);
    let key: string | undefined;
    try {
      key = await stash?.({ namespace, key: keyOf(kind, server, id), text, category: 'mcp-result', ttlMs: keptForMs });
    } catch (error) {
      log.error({ kind, id, server, reason: messageOf(error) }, 'a late result could not be kept in working memory');
    }
    const body: McpLateResult = {
      namespace,
      kind,
      id,
      server,
      tool,
      status: outcome.status,
      key,
      // What could not be kept is said, however long it is.
      ...((text.length <= inlineChars || key === undefined) && { text }),
    };
    const headers = { [messageHeaders.contentTrust]: 'tool-output' };
    await bus.publish(
      topics.mcpTaskResultOf(agent),
      createEnvelope({ messageType: lateResultType, source: agent, body, headers }),
    );
  };

const keyOf = (kind: LateResult['kind'], server: string, id: string): string => {
  // A name in a path is one segment.
  const segment = server.replaceAll(/[/\s]/g, '_');
  switch (kind) {
    case 'task':
      return `mcp-task/${segment}/${id}/result`;
    case 'question':
      return `mcp-question/${segment}/${id}/result`;
    case 'interrupted':
      return `mcp-interrupted/${id}`;
  }
};
