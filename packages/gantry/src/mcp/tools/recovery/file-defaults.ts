import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../kernel/errors.ts';
import type { Json } from '../../../kernel/json.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { ArgumentProvider } from './argument-provider.ts';

interface FileDefault {
  readonly providerName: string;
  readonly field: string;
  readonly value: Json;
  readonly tool?: string | undefined;
}

interface ReadFile {
  /** Modification time and length; an edit is noticed by them. */
  readonly stamp: string;
  readonly defaults: readonly FileDefault[];
}

// Only such names are files of their own; others could lead out of the folder.
const plainName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/**
 * Knows the values that an operator wrote into `{folder}/{server}.json`: a list of `{ providerName, field, value, tool? }` with plain values or objects.
 * An edit holds from the next call on. A default for a field that the tool's schema does not have is ignored, with one warning.
 */
export const fileDefaults = ({ folder, log }: { readonly folder: string; readonly log: Log }): ArgumentProvider => {
  const files = new Map<string, ReadFile>();
  const warned = new Set<string>();

  const warnOnce = (key: string, facts: Readonly<Record<string, unknown>>, message: string): void => {
    if (warned.has(key)) return;
    warned.add(key);
    log.warn(facts, message);
  };

  const read = async (server: string): Promise<readonly FileDefault[]> => {
    const path = join(folder, `${server}.json`);
    try {
      const { mtimeMs, size } = await stat(path);
      const stamp = `${mtimeMs}/${size}`;
      const known = files.get(server);
      if (known?.stamp === stamp) return known.defaults;
      const parsed = parseJson(await readFile(path, 'utf8'));
      const defaults = parsed.ok && Array.isArray(parsed.value) ? parsed.value.filter(isDefault) : [];
      if (!parsed.ok) log.warn({ file: path, reason: parsed.reason }, 'a file of argument defaults cannot be read');
      files.set(server, { stamp, defaults });
      return defaults;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        warnOnce(path, { file: path, reason: messageOf(error) }, 'a file of argument defaults cannot be read');
      return [];
    }
  };

  return async ({ server, tool, field, schema }) => {
    if (!plainName.test(server)) return undefined;
    const found = (await read(server)).find(
      (candidate) => candidate.field === field && (candidate.tool === undefined || candidate.tool === tool),
    );
    if (!found) return undefined;
    const { properties } = schema;
    if (!isObject(properties) || Object.hasOwn(properties, field)) return found.value;
    const facts = { server, tool, field, provider: found.providerName };
    warnOnce(`${server}/${tool}/${field}`, facts, 'a default was ignored: the tool has no such argument now');
    return undefined;
  };
};

const isDefault = (value: unknown): value is FileDefault =>
  isObject(value) &&
  typeof value['providerName'] === 'string' &&
  typeof value['field'] === 'string' &&
  (value['tool'] === undefined || typeof value['tool'] === 'string') &&
  (isObject(value['value']) || ['string', 'number', 'boolean'].includes(typeof value['value']));
