import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Node } from 'jsonc-parser';
import { findNodeAtLocation, getNodeValue, parseTree } from 'jsonc-parser';
import { reconcileEntries } from '../mcp/bridge/config/reconcile.ts';
import { nameProblemOf, serverEntrySchema } from '../mcp/bridge/config/server-entry.ts';
import { createArgGuards } from '../mcp/bridge/guards/create-arg-guards.ts';
import type { RefusalTerms } from '../mcp/bridge/server/refusal.ts';
import { refusalOf } from '../mcp/bridge/server/refusal.ts';
import { parseMcpFile } from '../mcp/bridge/config/mcp-file.ts';
import { GantryError, messageOf } from '../kernel/errors.ts';

/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** The file, or the name of the environment variable or flag. */
  readonly source: string;
  /** Path of the value in it. */
  readonly path?: string | undefined;
  /** From 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** What is wrong and what is allowed. */
  readonly message: string;
}

/** What an error of loading the configuration says, as problems with their lines. */
export const toProblems = async (error: GantryError): Promise<readonly ConfigProblem[]> => {
  const { file, line, column, problems } = error.details as {
    file?: string;
    line?: number;
    column?: number;
    problems?: readonly ConfigProblem[];
  };
  if (!problems) return [{ source: file ?? 'configuration', line, column, message: error.message }];
  const tree = file?.endsWith('.json') ? await readTree(file) : undefined;
  return problems.map((problem) =>
    problem.source === file && tree ? { ...problem, ...positionOf(tree, problem.path?.split('.') ?? []) } : problem,
  );
};

/** Keys that stand twice in one object of a JSON file, of which only the last has an effect. What cannot be read is told elsewhere. */
export const duplicateKeys = async (file: string | undefined): Promise<readonly ConfigProblem[]> => {
  if (!file?.endsWith('.json') || !existsSync(file)) return [];
  const tree = await readTree(file);
  return tree ? duplicatesIn(tree.root, [], tree, file) : [];
};

const duplicatesIn = (node: Node, path: readonly string[], tree: Tree, source: string): ConfigProblem[] => {
  const found: ConfigProblem[] = [];
  const seen = new Set<string>();
  for (const [index, child] of (node.children ?? []).entries()) {
    const [name, value] = child.type === 'property' ? (child.children ?? []) : [undefined, child];
    const key = name ? String(name.value) : String(index);
    const at = [...path, key];
    if (name && seen.has(key)) {
      const message = `the key "${key}" stands here for the second time, and only the last counts; remove one.`;
      found.push({ source, path: at.join('.'), ...placeOf(tree.text, child.offset), message });
    }
    seen.add(key);
    if (value) found.push(...duplicatesIn(value, at, tree, source));
  }
  return found;
};

/**
 * What is wrong with the file of servers: with the whole, or with single entries that would not be connected. A file that is not there
 * is fine.
 */
export const mcpFileProblems = async (
  path: string,
  terms: Pick<RefusalTerms, 'env' | 'authProfiles'> & DefaultServers,
): Promise<readonly ConfigProblem[]> => {
  try {
    const text = await readFile(path, 'utf8');
    const { entries, refused } = parseMcpFile(text, path);
    const tree = toTree(text);
    const argGuards = createArgGuards();
    const { doubles } = reconcileEntries(entries, terms.defaultServers);
    return [
      ...[...refused].flatMap(([name, message]) => entryProblems(path, name, message, tree)),
      ...[...entries].flatMap(([name, entry]) => {
        const refusal = refusalOf({ ...entry, double: doubles.get(name) }, { ...terms, stdio: 'launch', argGuards });
        return refusal?.state === 'refused' ? [entryProblem(path, name, refusal.reason, tree)] : [];
      }),
    ];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    return GantryError.is(error) ? toProblems(error) : [{ source: path, message: messageOf(error) }];
  }
};

/** What Gantry does to the file of servers, or would rather not see in it, though everything in it works. */
export const mcpFileWarnings = async (
  path: string,
  { defaultServers }: DefaultServers,
): Promise<readonly ConfigProblem[]> => {
  try {
    const { entries } = parseMcpFile(await readFile(path, 'utf8'), path);
    return reconcileEntries(entries, defaultServers).warnings.map((message) => ({ source: path, message }));
  } catch {
    // Told as a problem, or there is no file.
    return [];
  }
};

interface DefaultServers {
  /** Name to URL: an entry with such a name stands in for its doubles. */
  readonly defaultServers: Readonly<Record<string, string>>;
}

const entryProblem = (source: string, name: string, message: string, tree: Tree | undefined): ConfigProblem => {
  const at = ['mcpServers', name];
  return { source, path: at.join('.'), ...(tree && positionOf(tree, at)), message };
};

interface Tree {
  readonly root: Node;
  readonly text: string;
}

const entryProblems = (
  source: string,
  name: string,
  message: string,
  tree: Tree | undefined,
): readonly ConfigProblem[] => {
  const at = ['mcpServers', name];
  const nameProblem = nameProblemOf(name);
  if (nameProblem !== undefined) return [entryProblem(source, name, nameProblem, tree)];
  const node = tree && findNodeAtLocation(tree.root, at);
  const { error } = serverEntrySchema.safeParse(node && (getNodeValue(node) as unknown));
  if (!tree || !error) return [{ source, path: at.join('.'), message }];
  return error.issues.map((issue) => {
    const path = [...at, ...issue.path.map(String)];
    return { source, path: path.join('.'), ...positionOf(tree, path), message: `${issue.message}.` };
  });
};

const readTree = async (file: string): Promise<Tree | undefined> => toTree(await readFile(file, 'utf8'));

const toTree = (text: string): Tree | undefined => {
  const root = parseTree(text.replace(/^\uFEFF/, ' '), undefined, { allowTrailingComma: true });
  return root && { root, text };
};

/** Where a path stands in a file, or else the nearest value around it that does. */
const positionOf = ({ root, text }: Tree, path: readonly string[]): { line: number; column: number } => {
  let node: Node = root;
  for (let depth = path.length; depth > 0 && node === root; depth -= 1)
    node = findNodeAtLocation(root, toSegments(root, path.slice(0, depth))) ?? root;
  // A member is found where its key stands.
  return placeOf(text, node.parent?.type === 'property' ? node.parent.offset : node.offset);
};

const placeOf = (text: string, offset: number): { line: number; column: number } => {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) as string).length + 1 };
};

/** Steps into lists are numbers for the parser. */
const toSegments = (root: Node, path: readonly string[]): (string | number)[] => {
  const segments: (string | number)[] = [];
  for (const key of path) {
    const parent = findNodeAtLocation(root, segments);
    segments.push(parent?.type === 'array' ? Number(key) : key);
  }
  return segments;
};
