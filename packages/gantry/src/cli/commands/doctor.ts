import { GantryError } from '../../kernel/errors.ts';
import { checkConfiguration } from '../../operations/doctor/check-optional.ts';
import { diagnose } from '../../operations/doctor/diagnose.ts';
import type { DoctorCheck, DoctorReport } from '../../operations/doctor/doctor-report.ts';
import { toReport } from '../../operations/doctor/doctor-report.ts';
import { doctor } from '../../operations/doctor/doctor.ts';
import type { Command, CommandContext } from '../command-context.ts';
import type { GatewayAddress } from '../gateway.ts';
import { untilReady } from '../await-servers.ts';
import { findOwner, namedGateway, startLocal } from '../gateway.ts';
import { toCell } from '../output/printable.ts';
import type { Printer, Style } from '../output/printer.ts';
import { createPrinter } from '../output/printer.ts';
import type { Settings } from '../settings.ts';
import { loadSettings } from '../settings.ts';

/** `gantry doctor` */
export const runDoctor: Command<[]> = async (context) => {
  const printer = createPrinter(context);
  const report = await examine(context);
  printer.result(report, () => inWords(report, printer));
  return report.ok ? 0 : 1;
};

const examine = async (context: CommandContext): Promise<DoctorReport> => {
  const named = namedGateway(context);
  if (named) return ask(context, named);
  let settings: Settings;
  try {
    settings = await loadSettings(context);
  } catch (error) {
    if (!GantryError.is(error) || error.code !== 'config_invalid') throw error;
    const fix = 'Correct it; "gantry config schema" prints what is allowed.';
    return toReport([{ name: 'configuration', state: 'broken', message: error.message, fix }]);
  }
  const owner = await findOwner(settings);
  if (owner) return ask(context, owner);
  const { config, paths, file } = settings;
  const checks: DoctorCheck[] = [
    checkConfiguration(file),
    ...(await diagnose({
      ...paths,
      nodeVersion: process.versions.node,
      env: context.io.env,
      listen: config.serve,
    })),
  ];
  // A port that is taken keeps a gateway from starting, but not its parts from being looked at.
  const canStart = checks.every((check) => check.state !== 'broken' || harmless.has(check.name));
  if (canStart)
    checks.push(
      ...(await examineParts(context, settings)).filter(({ name }) => !checks.some((check) => check.name === name)),
    );
  return toReport(checks);
};

const harmless: ReadonlySet<string> = new Set(['port', 'file of servers', 'shared folder']);

const ask = async ({ io }: CommandContext, { url, token }: GatewayAddress): Promise<DoctorReport> => {
  const { callOperation } = await import('../../operations/http/client.ts');
  return callOperation(url, doctor, {}, { token, signal: io.interrupted });
};

/** What only a Gantry that was started can tell: the runner of scripts, the servers. */
const examineParts = async (context: CommandContext, settings: Settings): Promise<readonly DoctorCheck[]> => {
  await using local = await startLocal(context, settings);
  await untilReady(context.io, local.ready());
  return (await local.deps.doctor()).checks;
};

const marks: Readonly<Record<DoctorCheck['state'], readonly [string, Style]>> = {
  ok: ['ok', 'green'],
  warning: ['warning', 'yellow'],
  broken: ['broken', 'red'],
};

const inWords = ({ ok, checks }: DoctorReport, { style, foreign }: Printer): string => {
  const nameWidth = Math.max(...checks.map((check) => check.name.length));
  const lines = checks.flatMap(({ name, state, message, fix }) => {
    const [word, look] = marks[state];
    const head = `${style(look, word.padEnd(7))}  ${toCell(name).padEnd(nameWidth)}  ${foreign(message)}`;
    return fix === undefined ? [head] : [head, `${' '.repeat(nameWidth + 11)}→ ${fix}`];
  });
  return [...lines, '', ok ? 'Everything that is needed works.' : 'Something is broken; see above.'].join('\n');
};
