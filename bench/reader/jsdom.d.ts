// The types of the registry bring the DOM's global names into every file of the repository.
declare module 'jsdom' {
  /** Takes what the page says; without listeners it is silent. */
  export class VirtualConsole {
    on(event: string, listener: (message: string) => void): this;
  }
  export class JSDOM {
    constructor(html: string, options: { readonly url: string; readonly virtualConsole: VirtualConsole });
    readonly window: { readonly document: Document; close(): void };
  }
}
