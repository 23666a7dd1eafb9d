import { GantryError } from '../../kernel/errors.ts';
import type { ScriptRequest } from '../runner.ts';
import { systemPath } from './interpreters.ts';
import type { WorkFolder } from './work-folder.ts';

/** The variable in which a script finds its input. */
export const inputVariable = 'GANTRY_INPUT';

// Linux takes at most 128 KB for one variable, name and value together.
const maxVariableBytes = 120 * 1024;

/**
 * The whole environment of a script: a fixed list, the input, and what the request declares.
 * @throws {GantryError} `invalid_arguments` for a value that no environment can hold.
 */
export const scriptEnv = (
  request: ScriptRequest,
  places: { readonly workAt: string; readonly folder: WorkFolder; readonly packages?: string | undefined },
): Record<string, string> => {
  const env: Record<string, string> = {
    PATH: systemPath,
    HOME: places.workAt,
    TMPDIR: places.folder.tmp ?? '/tmp',
    LANG: 'C.UTF-8',
    USER: 'script',
    PYTHONNOUSERSITE: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    ...(places.packages === undefined ? {} : { PYTHONPATH: places.packages }),
    ...request.env,
    [inputVariable]: request.inputData ?? '',
  };
  for (const [name, value] of Object.entries(env)) {
    const subject = name === inputVariable ? 'The input data' : `The variable "${name}"`;
    if (value.includes('\0') || name.includes('\0') || name.includes('=') || name === '')
      throw new GantryError(
        'invalid_arguments',
        `${subject} cannot be passed on: no NUL characters, and names without "=".`,
      );
    if (Buffer.byteLength(value) > maxVariableBytes)
      throw new GantryError(
        'invalid_arguments',
        `${subject} is larger than ${maxVariableBytes} bytes; put it into a file of the shared folder and read it from there.`,
      );
  }
  return env;
};
