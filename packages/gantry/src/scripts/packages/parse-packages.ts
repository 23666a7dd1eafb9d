import { GantryError } from '../../kernel/errors.ts';

const name = '[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?';
const extras = `(?:\\[${name}(?:\\s*,\\s*${name})*\\])?`;
const version = '(?:===|==|~=|!=|<=|>=|<|>)\\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]{0,40}';
const requirement = new RegExp(`^${name}\\s*${extras}\\s*(?:${version}(?:\\s*,\\s*${version}){0,4})?$`);

const most = 20;

/**
 * Checks package requirements by name and version only (the first part of PEP 508: no addresses, paths, options or markers)
 * and gives them in one spelling: sorted, without spaces, each once.
 * @throws {GantryError} `invalid_arguments` naming the first that is refused.
 */
export const parsePackages = (packages: readonly string[] = []): readonly string[] => {
  if (packages.length > most)
    throw new GantryError(
      'invalid_arguments',
      `At most ${most} packages can be installed for a script; ${packages.length} were asked for.`,
    );
  const found = new Set<string>();
  for (const each of packages) {
    const text = each.trim();
    if (text.length > 200 || !requirement.test(text))
      throw new GantryError(
        'invalid_arguments',
        `"${each.slice(0, 80)}" is no package name; give a name with an optional version, such as "numpy" or "requests==2.32.3". Options, addresses and paths are not allowed.`,
        { details: { faults: [{ path: 'pip_packages', problem: 'no package name' }] } },
      );
    found.add(text.replaceAll(/\s+/g, ''));
  }
  return [...found].sort();
};
