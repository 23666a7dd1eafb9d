import type { ReadResult } from './page-reader.ts';
import { statusLine } from './shell-status.ts';

/** The first lines of a page's text: where it comes from, what is wrong with it, what is missing. */
export const pageHead = (tool: string, page: ReadResult, options: { readonly askedToRender: boolean }): string => {
  const lines = [`Source: ${page.url} (via ${page.how})${extentNote(page)}`];
  if (page.status) lines.push(statusLine(tool, page.status, page.rendering));
  else if (options.askedToRender && page.rendering === 'unavailable')
    lines.push('[Headless rendering is not available in this deployment; this is the page as plain HTTP gives it.]');
  else if (options.askedToRender && page.rendering === 'failed')
    lines.push('[Headless rendering was tried and failed; this is the page as plain HTTP gives it.]');
  if (page.stoppedAtBytes !== undefined)
    lines.push(
      `[The download was stopped at ${page.stoppedAtBytes} bytes, the most that is fetched; the rest of the page is missing.]`,
    );
  return lines.join('\n');
};

/** The page's title and text. */
export const pageBody = ({ title, text }: ReadResult): string => {
  const heading = title.trim();
  const hasHeading = heading === '' || text.startsWith(`# ${heading}\n`) || text === `# ${heading}`;
  return hasHeading ? text : `# ${heading}\n\n${text}`;
};

const extentNote = ({ extent, droppedShare }: ReadResult): string => {
  const share = `${Math.round(droppedShare * 100)} % of the text left out`;
  switch (extent) {
    case undefined:
      return '';
    case 'full':
      return ', mode full';
    case 'page':
      return `, page without its frame: ${share}`;
    case 'article':
      return `, article only: ${share} (mode "full" gives all of it)`;
  }
};
