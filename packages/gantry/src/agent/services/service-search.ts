import { rankDocuments } from '../../search/bm25.ts';
import { stopWords } from '../../search/stop-words.ts';
import { toWords } from '../../search/tokens.ts';
import type { CallContext } from '../../tool/context.ts';
import type { KnownService, ServiceSource } from './known-service.ts';

/** A service that fits a query. */
export interface FoundService extends Pick<KnownService, 'id' | 'type' | 'summary'> {
  /** Beside the best one, which has 1: two decimals. Says nothing across queries. */
  readonly relevance: number;
  /** Its tools or skills that fit best. */
  readonly top: readonly string[];
}

/** Finds the services that fit a text, best first. */
export type SearchServices = (query: string, limit: number, context: CallContext) => readonly FoundService[];

const mostTop = 3;

/** Makes the search over servers, agents and what else is known. */
export const createServiceSearch =
  (sources: readonly ServiceSource[]): SearchServices =>
  (query, limit, context) => {
    const wanted = withoutStopWords(query);
    if (wanted === '') return [];
    const ranked = rankDocuments(
      sources.flatMap((source) => source(context)),
      ({ text }) => text,
      wanted,
    );
    const best = ranked[0]?.score ?? 1;
    return ranked.slice(0, limit).map(({ item: { id, type, summary, topFor }, score }) => ({
      id,
      type,
      summary,
      relevance: Math.round((score / best) * 100) / 100,
      top: topFor(wanted, mostTop),
    }));
  };

const mostWords = 200;

/** "What is the weather" would find whatever is described with "the". Texts of megabytes are cut: their beginning says what is wanted. */
const withoutStopWords = (query: string): string =>
  toWords(query.slice(0, 20_000))
    .filter((word) => !stopWords.has(word))
    .slice(0, mostWords)
    .join(' ');
