/** What can be searched for, in the order in which tools name it. */
export const searchCategories = ['text', 'image', 'video', 'news', 'papers', 'code', 'files', 'music'] as const;

/** One of {@link searchCategories}. */
export type SearchCategory = (typeof searchCategories)[number];

/** How much of what is not for all eyes is left out. */
export type SafeSearch = 'off' | 'moderate' | 'strict';

/** One search. */
export interface SearchRequest {
  readonly query: string;
  readonly category: SearchCategory;
  /** Results wanted, 1 to 20. */
  readonly count: number;
  /** Absent = the engine's usual. */
  readonly safeSearch?: SafeSearch | undefined;
  /** Two-letter language, `de` say; absent = the engine's usual. */
  readonly language?: string | undefined;
  /** Whose search it is; a workspace can have a key of its own. */
  readonly workspace?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One result. Texts are as the engine wrote them. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** Further facts, said before the snippet: a date, a duration. */
  readonly facts?: readonly string[] | undefined;
  /** The picture itself, where the hit is one. */
  readonly imageUrl?: string | undefined;
}

/** What an engine found; no hits and no answer means that it looked and there is nothing. */
export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** Said in the engine's own words before the hits. */
  readonly answer?: string | undefined;
  /** The query that was searched for in place of the one that was asked. */
  readonly correctedQuery?: string | undefined;
}

/** Somebody who can search the web. */
export interface SearchEngine {
  readonly name: string;
  readonly categories: ReadonlySet<SearchCategory>;
  /** As far as is known now, without asking anybody: what a turn of a workspace is told about categories rests on it. */
  isUp(workspace?: string): boolean;
  /** Whether a search should be tried now; may ask. Default what `isUp` says. */
  checkUp?(request: SearchRequest): Promise<boolean>;
  /**
   * Searches. An engine that could not look must throw: nothing found means that there is nothing.
   *
   * @throws {GantryError} with a message that says what the engine answered.
   */
  search(request: SearchRequest): Promise<SearchAnswer>;
}
