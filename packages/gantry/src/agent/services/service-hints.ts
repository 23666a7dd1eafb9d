import type { ServiceHints } from '../context/build-context.ts';
import type { SearchServices } from './service-search.ts';

const mostHints = 2;

/** Tells the model with each message which services fit it, two at most; nothing where none does. */
export const createServiceHints =
  (search: SearchServices): ServiceHints =>
  async ({ text, namespace, workspace }) => {
    const found = search(text, mostHints, { caller: 'model', namespace, workspace });
    if (found.length === 0) return undefined;
    const lines = found.map(({ id, type, summary, top }) => {
      const tops = top.length === 0 ? '' : `, top ${type === 'mcp' ? 'tools' : 'skills'}: ${top.join(', ')}`;
      return `- ${id} (${type}): ${summary.replace(/\.$/, '')}${tops}`;
    });
    return ['Services that may fit this message:', ...lines].join('\n');
  };
