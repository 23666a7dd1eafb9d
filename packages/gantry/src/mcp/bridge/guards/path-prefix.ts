import type { ArgGuardHandler } from './arg-guard.ts';
import {
  argumentsNamed,
  parseFlag,
  parseOptions,
  parseTexts,
  refuseOthers,
  shownList,
  shownValue,
  wrongOptions,
} from './guard-options.ts';

/**
 * Lets only absolute paths in certain folders pass: `args` are the arguments that hold paths, `allowedPrefixes` the folders,
 * `requireArgs` (default false) rejects a call without them. Paths are compared as text, with `.` and `..` resolved and by whole
 * names, in the way of Linux: the server may be another machine.
 */
export const pathPrefix: ArgGuardHandler = (given) => {
  const options = parseOptions(given);
  refuseOthers(options, ['args', 'allowedPrefixes', 'requireArgs']);
  const names = parseTexts(options, 'args');
  const prefixes = parseTexts(options, 'allowedPrefixes').map((prefix) => {
    const path = normalise(prefix);
    if (!('problem' in path)) return path.path;
    throw wrongOptions(`the allowed prefix ${shownValue(prefix)} ${path.problem}.`);
  });
  const isRequired = parseFlag(options, 'requireArgs');
  const allowed = `Allowed are absolute paths in ${shownList(prefixes)}.`;

  return async ({ args }) => {
    for (const name of names) {
      const values = argumentsNamed(args, name);
      if (values.length === 0 && isRequired)
        return `Argument "${name}" is missing: without it the server saves to a place nobody else can see. ${allowed}`;
      for (const [key, value] of values) {
        const reject = (reason: string): string =>
          `Argument "${key}" is ${shownValue(value)}, which ${reason}. ${allowed}`;
        if (typeof value !== 'string' || value.trim() === '') return reject('is not a path (a text)');
        const path = normalise(value);
        if ('problem' in path) return reject(path.problem);
        if (!prefixes.some((prefix) => isWithin(path.path, prefix))) return reject('lies outside the allowed folders');
      }
    }
    return undefined;
  };
};

const normalise = (given: string): { readonly path: string } | { readonly problem: string } => {
  const slashed = given.trim().replaceAll('\\', '/');
  if (!slashed.startsWith('/')) return { problem: 'is relative' };
  const steps: string[] = [];
  for (const step of slashed.split('/')) {
    if (step === '' || step === '.') continue;
    if (step !== '..') steps.push(step);
    else if (steps.pop() === undefined) return { problem: 'climbs above the root' };
  }
  return { path: `/${steps.join('/')}` };
};

const isWithin = (path: string, prefix: string): boolean =>
  prefix === '/' || path === prefix || path.startsWith(`${prefix}/`);
