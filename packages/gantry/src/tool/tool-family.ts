/** Kinds of work for which a server can take the place of a bundled tool: reading a page, searching the web. */
export const toolFamilies = ['url_fetcher', 'web_search'] as const;

/** One of {@link toolFamilies}. */
export type ToolFamily = (typeof toolFamilies)[number];
