import type { ListToolsResult, Tool } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { ToolRegistration } from '../../tool/registration.ts';
import type { Toolsets } from '../../toolset/toolset.ts';
import type { Visitor } from './visitor.ts';
import { contextOf } from './visitor.ts';

/** The answers to `tools/list`. */
export interface ToolPages {
  /** Fetches what is stored about a visitor that has an identity; await it before {@link ToolPages.page}. */
  prepare(visitor: Visitor): Promise<void>;
  /**
   * All tools this visitor is shown now, as one page; the same object as long as they are the same.
   * @throws {ProtocolError} invalid params for a cursor, since there is no second page.
   */
  page(visitor: Visitor, cursor: string | undefined): ListToolsResult;
}

// One for each list that is in use; the bound only keeps many short sessions from growing for ever.
const maxKept = 500;

/** Makes the pages over the toolsets. */
export const createToolPages = (toolsets: Toolsets): ToolPages => {
  // By what the list depends on, least recently used first.
  const kept = new Map<string, ListToolsResult>();

  return {
    prepare: (visitor) => toolsets.prepare(contextOf(visitor)),
    page: (visitor, cursor) => {
      if (cursor !== undefined)
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          'Unknown cursor: all tools come on one page; ask without a cursor.',
        );
      const context = contextOf(visitor);
      const key = `${visitor.client ?? ''}\n${toolsets.stamp(context)}`;
      const page = kept.get(key) ?? { tools: toolsets.for(context).tools.map(toListedTool) };
      kept.delete(key);
      kept.set(key, page);
      for (const oldest of kept.keys()) {
        if (kept.size <= maxKept) break;
        kept.delete(oldest);
      }
      return page;
    },
  };
};

const toListedTool = (registration: ToolRegistration): Tool => {
  const { name, title, description, inputSchema, outputSchema, annotations } = registration;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    // The protocol wants an object schema; a server's schema may leave that unsaid.
    inputSchema: { ...inputSchema, type: 'object' },
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
  };
};
