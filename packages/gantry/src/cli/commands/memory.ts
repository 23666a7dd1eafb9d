import { memoryList, memoryShow } from '../../operations/memory.ts';
import { durationText } from '../../schedule/parse-at.ts';
import type { Command } from '../command-context.ts';
import { openGateway } from '../gateway.ts';
import { createPrinter } from '../output/printer.ts';

const withoutServers = { needs: 'none' } as const;

/** `gantry memory list [PREFIX]` */
export const listMemory: Command<[string | undefined]> = async (context, prefix) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, withoutServers);
  const found = await gateway.run(memoryList, { prefix });
  const nowMs = context.io.clock.nowMs();
  printer.result(found, () =>
    found.entries.length === 0
      ? `Working memory holds no entries${prefix === undefined ? '' : ` below "${prefix}"`}.`
      : printer.table(
          ['KEY', 'CHARS', 'EXPIRES IN', 'CATEGORY'],
          found.entries.map(({ key, chars, expiresAt, category }) => [
            key,
            String(chars),
            durationText(Date.parse(expiresAt) - nowMs),
            category ?? '',
          ]),
        ),
  );
  return 0;
};

/** `gantry memory show KEY` */
export const showMemory: Command<[string]> = async (context, key) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, withoutServers);
  const entry = await gateway.run(memoryShow, { key });
  printer.result(entry, () => printer.foreign(entry.text));
  return 0;
};
