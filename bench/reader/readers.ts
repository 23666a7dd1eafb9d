/** The readers that are measured side by side. */
import { Readability } from '@mozilla/readability';
import { Defuddle } from 'defuddle/node';
import { JSDOM, VirtualConsole } from 'jsdom';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { convertPage } from '../../packages/gantry/src/web/html/convert-page.ts';

/** Makes Markdown of a page. */
export interface Reader {
  readonly name: string;
  read(html: string, url: string): Promise<string>;
}

const gantry: Reader = {
  name: 'gantry',
  read: async (html, url) => convertPage(html, { url, mode: 'auto' }).markdown,
};

const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' });

const readability: Reader = {
  name: 'Readability on jsdom, turndown',
  read: async (html, url) => {
    const { window } = new JSDOM(html, { url, virtualConsole: new VirtualConsole() });
    try {
      return turndown.turndown(new Readability(window.document).parse()?.content ?? '');
    } finally {
      window.close();
    }
  },
};

const defuddle: Reader = {
  name: 'Defuddle on linkedom',
  // Its extractors would ask services of others for pages they know.
  read: async (html, url) => {
    const { error, warn } = console;
    // It reports every page with broken data.
    console.error = console.warn = () => {};
    try {
      return (await Defuddle(parseHTML(html).document, url, { markdown: true, useAsync: false })).content;
    } finally {
      Object.assign(console, { error, warn });
    }
  },
};

/** Ours, and what others use for the same. */
export const readers: readonly Reader[] = [gantry, readability, defuddle];
