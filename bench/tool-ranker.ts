import { createToolIndex } from '../packages/gantry/src/search/tool-index.ts';

/** A tool as the retrieval corpora give it. */
export interface CorpusTool {
  readonly server: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly serverDescription?: string | undefined;
  readonly inputSchema?: unknown;
}

/** The product's tool search in the form that the retrieval evaluation takes. */
export const ranker = (tools: readonly CorpusTool[]): ((query: string, limit: number) => CorpusTool[]) => {
  const index = createToolIndex();
  index.upsert(
    tools.map((tool, position) => ({
      id: String(position),
      server: tool.server,
      name: tool.name,
      typedName: `${tool.server}__${tool.name}`,
      description: tool.description ?? '',
      serverText: tool.serverDescription,
      inputSchema: tool.inputSchema,
      kind: 'tool',
    })),
  );
  return (query, limit) => index.search(query, limit).map(({ entry }) => tools[Number(entry.id)] as CorpusTool);
};
