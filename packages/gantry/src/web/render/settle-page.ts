interface Observer {
  observe(target: unknown, options: Readonly<Record<string, boolean>>): void;
  disconnect(): void;
}
interface Browserly {
  readonly document: unknown;
  readonly MutationObserver: new (callback: () => void) => Observer;
  setTimeout(run: () => void, delayMs: number): number;
  clearTimeout(timer: number): void;
}

/** Runs inside a page: resolves when nothing has changed in it for `quietMs`, at the latest after `atMostMs`. */
export const untilQuiet = ({ quietMs, atMostMs }: { quietMs: number; atMostMs: number }): Promise<void> =>
  new Promise((resolve) => {
    const page = globalThis as unknown as Browserly;
    const done = (): void => {
      observer.disconnect();
      page.clearTimeout(quiet);
      page.clearTimeout(limit);
      resolve();
    };
    const observer = new page.MutationObserver(() => {
      page.clearTimeout(quiet);
      quiet = page.setTimeout(done, quietMs);
    });
    let quiet = page.setTimeout(done, quietMs);
    const limit = page.setTimeout(done, atMostMs);
    observer.observe(page.document, { childList: true, subtree: true, characterData: true, attributes: true });
  });

/** Runs inside a page: its HTML as it is now, at most `maxChars` of it. */
export const htmlOf = (maxChars: number): string =>
  (
    globalThis as unknown as { document: { documentElement: { outerHTML: string } } }
  ).document.documentElement.outerHTML.slice(0, maxChars);
