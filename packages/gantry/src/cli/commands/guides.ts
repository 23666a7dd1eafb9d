import { guidesList, guidesShow } from '../../operations/guides.ts';
import type { Command } from '../command-context.ts';
import { openGateway } from '../gateway.ts';
import { createPrinter } from '../output/printer.ts';

const withoutServers = { needs: 'none' } as const;

/** `gantry guides list` */
export const listGuides: Command<[]> = async (context) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, withoutServers);
  const found = await gateway.run(guidesList, {});
  printer.result(found, () =>
    found.guides.length === 0
      ? 'There are no guides.'
      : printer.table(
          ['NAME', 'SUMMARY'],
          found.guides.map((guide) => [guide.name, guide.summary]),
        ),
  );
  return 0;
};

/** `gantry guides show NAME` */
export const showGuide: Command<[string]> = async (context, name) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, withoutServers);
  const guide = await gateway.run(guidesShow, { name });
  printer.result(guide, () => printer.foreign(guide.document));
  return 0;
};
