/** What is left of markup without its tags; for what no tree is made of. Linear, whatever the text. */
export const stripTags = (html: string): string => {
  const pieces: string[] = [];
  let from = 0;
  while (from < html.length) {
    const open = html.indexOf('<', from);
    if (open === -1) break;
    pieces.push(html.slice(from, open));
    const close = html.indexOf('>', open);
    if (close === -1) return pieces.join(' ');
    const silent = /^<(script|style)\b/i.exec(html.slice(open, open + 8))?.[1];
    const end = silent === undefined ? -1 : html.indexOf(`</${silent.toLowerCase()}`, close);
    if (end !== -1) {
      const endClose = html.indexOf('>', end);
      from = endClose === -1 ? html.length : endClose + 1;
    } else from = close + 1;
  }
  pieces.push(html.slice(from));
  return pieces.join(' ');
};
