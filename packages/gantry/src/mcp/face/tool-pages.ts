import type { ListToolsResult, Tool } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { ToolRegistration } from '../../tool/registration.ts';
import type { Toolsets } from '../../toolset/toolset.ts';
import type { Visitor } from './visitor.ts';

/** The answers to `tools/list`. */
export interface ToolPages {
  /**
   * All tools this visitor is shown now, as one page; made once per visitor and version of the registry.
   * @throws {ProtocolError} invalid params for a cursor, since there is no second page.
   */
  page(visitor: Visitor, cursor: string | undefined): ListToolsResult;
}

// Visitors come with tokens that an operator made, so there are few; the bound only keeps a mistake from growing for ever.
const maxKept = 500;

/** Makes the pages over the toolsets; `version` tells when they have to be made again. */
export const createToolPages = (toolsets: Toolsets, version: () => number): ToolPages => {
  const kept = new Map<string, ListToolsResult>();
  let keptVersion = -1;

  return {
    page: (visitor, cursor) => {
      if (cursor !== undefined)
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          'Unknown cursor: all tools come on one page; ask without a cursor.',
        );
      const current = version();
      if (current !== keptVersion || kept.size >= maxKept) {
        kept.clear();
        keptVersion = current;
      }
      const showsTyped = visitor.mode !== 'off';
      const key = `${showsTyped}\n${visitor.client ?? ''}`;
      let page = kept.get(key);
      if (!page) {
        const { tools } = toolsets.for({ caller: 'client', client: visitor.client });
        page = { tools: tools.filter((tool) => showsTyped || !tool.target).map(toListedTool) };
        kept.set(key, page);
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
