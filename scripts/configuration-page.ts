import * as z from 'zod';
import type { CliHost } from '../packages/gantry/src/cli/cli-host.ts';
import type { CliIo } from '../packages/gantry/src/cli/cli-io.ts';
import { createProgram } from '../packages/gantry/src/cli/program.ts';
import { configSchema } from '../packages/gantry/src/host/config/config-schema.ts';
import { isObject } from '../packages/gantry/src/kernel/json.ts';
import { serverEntrySchema } from '../packages/gantry/src/mcp/bridge/config/server-entry.ts';

type Schema = Readonly<Record<string, unknown>>;
type Command = ReturnType<typeof createProgram>;

/** The text of `docs/configuration.md`. */
export const configurationPage = (): string => `# Configuration

<!-- Written by "npm run docs"; change the schemas and the command line instead. -->

Gantry reads \`gantry.config.ts\` (its default export) or \`gantry.config.json\` (comments are allowed) in the working folder, or the file
that \`--config\` names. Command line flags win over the environment, the environment over the file. \`gantry config check\` finds mistakes,
\`gantry config print\` shows what is in effect, and \`gantry config schema\` prints the JSON Schema for editors.

## Settings

Each setting has an environment variable: \`GANTRY_\` and the path in capitals, with \`__\` between levels. \`serve.port\` is
\`GANTRY_SERVE__PORT\`. Lists and maps are written as JSON. Short names: \`GANTRY_TOKEN\` is \`serve.token\`, \`GANTRY_DATA\` is \`dataDir\`,
\`GANTRY_SHARED_PATH\` is \`sharedDir\`. \`GANTRY_CRYPTO_SECRET\` (not a setting of the file) replaces the key file.

${tableOf(settingsOf(toSchema(configSchema)))}

## \`mcp.json\`

\`{"mcpServers": {"NAME": ENTRY}}\`, with comments allowed. A running gateway notices changes by itself. An entry has a \`url\` (HTTP
server) or a \`command\` (a program; it is started only with \`"mcp": {"stdio": "launch"}\` in the configuration). A bad entry is refused
with a message, and the others are served. Fields that are not named here stay in the file and have no effect.

${tableOf(settingsOf(toSchema(serverEntrySchema)))}

## Command line

Exit codes: 0 done; 1 the operation failed; 2 wrong usage or configuration; 130 interrupted. With \`--json\` standard output holds one JSON
document and nothing else; logs go to standard error.

${helpPages(programForHelp()).join('\n\n')}
`;

interface Setting {
  readonly path: string;
  readonly type: string;
  readonly defaultValue: string;
  readonly description: string;
}

const toSchema = (schema: z.ZodType): Schema => z.toJSONSchema(schema, { io: 'input' }) as Schema;

const settingsOf = (schema: Schema, path: readonly string[] = []): Setting[] =>
  Object.entries(isObject(schema['properties']) ? schema['properties'] : {}).flatMap(([key, member]) => {
    if (!isObject(member) || key === '$schema') return [];
    const below = [...path, key];
    if (isObject(member['properties']) && Object.keys(member['properties']).length > 0)
      return settingsOf(member, below);
    return [
      {
        path: below.join('.'),
        type: typeOf(member),
        defaultValue: member['default'] === undefined ? '' : `\`${JSON.stringify(member['default'])}\``,
        description: typeof member['description'] === 'string' ? member['description'] : '',
      },
    ];
  });

const typeOf = (schema: Schema): string => {
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => `\`${String(value)}\``).join(', ');
  if (schema['const'] !== undefined) return `\`${JSON.stringify(schema['const'])}\``;
  if (schema['type'] === 'array') return 'list';
  if (schema['type'] === 'object') return 'map';
  return typeof schema['type'] === 'string' ? schema['type'] : 'any';
};

const tableOf = (settings: readonly Setting[]): string =>
  [
    '| setting | type | default | what it does |',
    '|---|---|---|---|',
    ...settings.map(({ path, type, defaultValue, description }) =>
      `| \`${path}\` | ${type} | ${defaultValue} | ${description.replaceAll('|', '\\|')} |`.replaceAll(/ {2,}/g, ' '),
    ),
  ].join('\n');

const programForHelp = (): Command => {
  // Help is only read; nothing runs that would print or start anything.
  const io = { stdout: process.stdout, stderr: process.stderr } as unknown as CliIo;
  return createProgram(io, {} as CliHost, () => {});
};

const helpPages = (command: Command, parents: readonly string[] = []): string[] => {
  const names = [...parents, command.name()];
  const text = command
    .configureOutput({ getOutHelpWidth: () => 100, getOutHasColors: () => false })
    .configureHelp({ showGlobalOptions: false })
    .helpInformation()
    .trimEnd();
  const own = `### \`${names.join(' ')}\`\n\n\`\`\`text\n${text}\n\`\`\``;
  return [own, ...command.commands.flatMap((sub) => helpPages(sub, names))];
};
