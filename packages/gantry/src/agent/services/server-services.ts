import type { ServerSummary } from '../../mcp/wire/index-message.ts';
import { rankDocuments } from '../../search/bm25.ts';
import { toNameWords } from '../../search/tokens.ts';
import { flattenText } from '../../text/flatten.ts';
import type { CallableTools } from '../../tool/callable-tools.ts';
import type { Tool } from '../../tool/executor.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import type { FitTool } from '../../tool/typed-tools.ts';
import type { KnownService, ServiceSource } from './known-service.ts';

/** What is known of the connected servers. */
export interface ServerFacts {
  readonly summaries: () => readonly Pick<ServerSummary, 'serverName' | 'displayName' | 'summary' | 'toolNames'>[];
  /** The typed tools of a server. */
  readonly toolsOf: (server: string) => readonly Tool[];
  /** Whether a caller may have a tool at all. */
  readonly fit: FitTool;
  readonly callable: Pick<CallableTools, 'find'>;
}

const summaryChars = 200;
const nameChars = 128;

/** The connected servers as services. One all of whose tools are kept from the caller is none for him. */
export const serverServices =
  ({ summaries, toolsOf, fit, callable }: ServerFacts): ServiceSource =>
  (context) =>
    summaries().flatMap(({ serverName, displayName, summary, toolNames }): readonly KnownService[] => {
      const typed = toolsOf(serverName).map(({ registration }) => registration);
      if (typed.length > 0 && !typed.some((tool) => fit(tool, context))) return [];
      // In a run without typed tools a typed name would lead nowhere.
      const called = typed.filter(({ name }) => callable.find(name, context) !== undefined);
      return [
        {
          id: serverName,
          type: 'mcp',
          summary: flattenText(summary, { maxChars: summaryChars }) || `MCP server with ${toolNames.length} tools.`,
          text: [serverName, displayName ?? '', summary, ...toolNames].map(asWords).join('\n'),
          topFor: (query, limit) => {
            if (called.length === 0)
              return toolNames.slice(0, limit).map((name) => flattenText(name, { maxChars: nameChars }));
            const fitting = rankDocuments(called, textOf, query).map(({ item }) => item);
            return (fitting.length > 0 ? fitting : called).slice(0, limit).map(({ name }) => name);
          },
        },
      ];
    });

/** As it stands, and with the words of names apart: `createIssue` is found by "issue". */
const asWords = (text: string): string => `${text} ${toNameWords(text).join(' ')}`;

/** Without the name of the server, which would make each of its tools fit alike. */
const textOf = ({ name, description, target }: ToolRegistration): string =>
  `${asWords(target?.tool ?? name)}\n${description}`;
