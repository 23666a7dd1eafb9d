import { typedPromptName, typedToolName } from '../../../schema/tool-name.ts';
import type { ToolRegistration } from '../../../tool/registration.ts';
import { toRegistration } from '../../../tool/registration.ts';
import type { CatalogEntry } from '../typed/catalog.ts';

/**
 * What is known of a tool or prompt that the catalog does not have: its typed name and its server. Rules can be asked about it, and the
 * bridge, which knows best what to say of it, may find that it has come.
 */
export const unlisted = (server: string, kind: CatalogEntry['kind'], name: string): ToolRegistration =>
  toRegistration({
    name: kind === 'tool' ? typedToolName(server, name) : typedPromptName(server, name),
    description: name || 'unknown',
    source: `mcp:${server}`,
    ...(kind === 'tool' ? { target: { server, tool: name } } : { promptOf: { server, prompt: name } }),
  });
