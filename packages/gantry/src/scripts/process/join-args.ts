import type { Launch } from './launcher.ts';

/** The beginning of a command that joins its control groups before it becomes the rest of the command. */
export const joinArgs = ({ joinFiles = [] }: Launch): string[] =>
  joinFiles.length === 0
    ? []
    : [
        '/bin/sh',
        '-c',
        'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"',
        'sh',
        ...joinFiles,
        '--',
      ];
