/**
 * `npm run docs`: writes `docs/configuration.md` from the schemas and the command line, and puts the regions of `packages/examples` that
 * the other pages quote in place. A quote is a `ts` block after a line `<!-- example: library.ts#tool -->`.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { configurationPage } from './configuration-page.ts';

const root = resolve(import.meta.dirname, '..');
const quote = /(<!-- example: (\S+?)#(\S+) -->\n```ts\n)[\s\S]*?(?=```)/g;

/** Every page that is generated or quotes an example, by its path in the repository, as it has to be. */
export const generateDocs = async (): Promise<ReadonlyMap<string, string>> => {
  const pages = (await readdir(join(root, 'docs'))).filter(
    (name) => name.endsWith('.md') && name !== 'configuration.md',
  );
  const written = ['README.md', ...pages.map((name) => `docs/${name}`)];
  const texts = await Promise.all(written.map(async (path) => [path, await withQuotes(path)] as const));
  return new Map([...texts, ['docs/configuration.md', configurationPage()]]);
};

const withQuotes = async (path: string): Promise<string> => {
  const text = await readFile(join(root, path), 'utf8');
  const files = new Set([...text.matchAll(quote)].map(([, , file]) => file as string));
  const examples = new Map<string, string>();
  for (const file of files) examples.set(file, await readFile(join(root, 'packages/examples/src', file), 'utf8'));
  return text.replaceAll(quote, (_whole, head: string, _head: string, name: string) => {
    const file = /example: (\S+?)#/.exec(head)?.[1] as string;
    return `${head}${regionOf(examples.get(file) as string, name, file)}\n`;
  });
};

/** The lines between `// #region name` and `// #endregion`, moved to the left margin. */
const regionOf = (source: string, name: string, file: string): string => {
  const lines = source.split('\n');
  const start = lines.findIndex((line) => line.trim() === `// #region ${name}`);
  const end = lines.findIndex((line, index) => index > start && line.trim() === '// #endregion');
  if (start < 0 || end < 0) throw new Error(`packages/examples/src/${file} has no region "${name}".`);
  const region = lines.slice(start + 1, end);
  const indents = region.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const margin = Math.min(...indents);
  return region
    .map((line) => line.slice(margin))
    .join('\n')
    .trim();
};

if (import.meta.main)
  for (const [path, text] of await generateDocs()) {
    await writeFile(join(root, path), text);
    console.log(path);
  }
