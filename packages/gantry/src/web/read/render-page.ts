/** A page as a headless browser shows it after its scripts have run. */
export interface RenderedPage {
  /** Where the browser ended up. */
  readonly url: string;
  readonly status: number;
  readonly title: string;
  readonly html: string;
}

/** Renders a page in a headless browser under the same address policy as plain fetches. Rejects when it cannot. */
export type RenderPage = (url: string, options: { readonly signal?: AbortSignal | undefined }) => Promise<RenderedPage>;
