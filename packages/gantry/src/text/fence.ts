import { flattenText } from './flatten.ts';

/**
 * A text that somebody else wrote between tags of ours, as `<data from="…">`. Nothing in it ends the block: a closing tag of the same name gets a
 * space.
 *
 * @param attributes their values are flattened.
 */
export const fenceText = (tag: string, attributes: Readonly<Record<string, string>>, text: string): string => {
  const head = Object.entries(attributes).map(([name, value]) => ` ${name}="${flattenText(value)}"`);
  return `<${tag}${head.join('')}>\n${text.replaceAll(new RegExp(`<(?=\\s*/\\s*${tag}\\b)`, 'gi'), '< ')}\n</${tag}>`;
};
