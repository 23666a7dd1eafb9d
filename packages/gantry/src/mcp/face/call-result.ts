import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Outcome, ToolReport } from '../../tool/outcome.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import { toContentBlocks } from './content-blocks.ts';

/** Names in a result's `_meta` that Gantry adds. */
export const resultMeta = {
  /** What a parked call waits for: `{ kind, id, expiresAt }`. */
  handle: 'gantry/handle',
  /** Files that the call left in the shared folder: a list of `{ path, name, size, mime }`. */
  attachments: 'gantry/attachments',
} as const;

/**
 * Says an outcome as the result of `tools/call`. A parked call of a tool that promises a structured result is marked as
 * an error, because strict clients refuse a success without one.
 */
export const toCallToolResult = (outcome: Outcome, registration: ToolRegistration | undefined): CallToolResult => {
  switch (outcome.status) {
    case 'done':
      return toResult(outcome);
    case 'failed': {
      const { reported, message } = outcome.failure;
      if (reported) return { ...toResult(reported), isError: true };
      return { content: [{ type: 'text', text: message }], isError: true };
    }
    case 'parked':
      return {
        content: toContentBlocks(outcome.parts),
        _meta: { [resultMeta.handle]: outcome.handle },
        ...(registration?.outputSchema && { isError: true }),
      };
  }
};

const toResult = ({ parts, structured, meta, attachments }: ToolReport): CallToolResult => ({
  content: toContentBlocks(parts),
  ...(structured !== undefined && { structuredContent: structured }),
  ...((meta || attachments) && { _meta: { ...meta, ...(attachments && { [resultMeta.attachments]: attachments }) } }),
});
