import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { GantryError } from '../../kernel/errors.ts';
import type { ScriptRequest } from '../runner.ts';

/** How to start a script: the program, its arguments, and the file of the work folder that holds the source. */
export interface ScriptCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Written into the work folder before; absent when the script is one of the request's files. */
  readonly source?: { readonly path: string; readonly text: string } | undefined;
  /** JavaScript engines reserve far more address space than they use, so only what they fill can be limited. */
  readonly reservesAddressSpace: boolean;
}

interface Interpreter {
  readonly program: string;
  readonly args: readonly string[];
  readonly file: string;
}

const node: Interpreter = { program: 'node', args: [], file: 'script.mjs' };
const interpreters: Readonly<Record<string, Interpreter>> = {
  python: { program: 'python3', args: ['-B', '-u'], file: 'script.py' },
  bash: { program: 'bash', args: [], file: 'script.sh' },
  sh: { program: 'sh', args: [], file: 'script.sh' },
  node,
  javascript: node,
};

/** Folders of the system in which interpreters are looked up; what lies elsewhere is not visible inside a sandbox. */
export const systemPath = '/usr/local/bin:/usr/bin:/bin';

/** The interpreters that requests can name. */
export const interpreterNames: readonly string[] = Object.keys(interpreters);

/**
 * Finds how to run a request on this machine.
 * @throws {GantryError} `invalid_arguments` naming the interpreter or the file that is missing.
 */
export const toCommand = (request: ScriptRequest, path: string = systemPath): ScriptCommand => {
  if ('file' in request) return fileCommand(request, path);
  const interpreter = Object.hasOwn(interpreters, request.interpreter) ? interpreters[request.interpreter] : undefined;
  if (!interpreter)
    throw refused(`There is no interpreter "${request.interpreter}"; use one of ${interpreterNames.join(', ')}.`);
  const program = findProgram(interpreter.program, path);
  if (program === undefined)
    throw refused(`The interpreter "${request.interpreter}" is not installed: no ${interpreter.program} in ${path}.`);
  return {
    program,
    args: [...interpreter.args, interpreter.file],
    source: { path: interpreter.file, text: request.script },
    reservesAddressSpace: interpreter === node,
  };
};

const fileCommand = (request: ScriptRequest & { file: string }, path: string): ScriptCommand => {
  const file = request.files?.find((each) => each.path === request.file);
  if (!file) throw refused(`The script file "${request.file}" was not found among the files of the run.`);
  const [line = ''] = Buffer.from(file.bytes.subarray(0, 256)).toString('utf8').split('\n', 1);
  // Without a first line that names one, a shell runs the file, as every shell itself does.
  const words = line.startsWith('#!') ? line.slice(2).trim() : '/bin/sh';
  const [named = '', ...rest] = words.split(/\s+/);
  const program = named.endsWith('/env') && rest[0] !== undefined ? findProgram(rest.shift() as string, path) : named;
  if (program === undefined || !isProgram(program))
    throw refused(`The script file "${request.file}" asks for the interpreter "${words}", which is not installed.`);
  return {
    program,
    args: [...rest, `./${request.file}`],
    reservesAddressSpace: /\bnode$/.test(program),
  };
};

/** The first program of that name on a path, as an absolute path. */
export const findProgram = (name: string, path: string): string | undefined =>
  path
    .split(':')
    .map((folder) => join(folder, name))
    .find(isProgram);

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const refused = (message: string): GantryError => new GantryError('invalid_arguments', message);
