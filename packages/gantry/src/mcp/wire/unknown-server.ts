import { flattenText } from '../../text/flatten.ts';

/** How the bridge says that there is no server of that name. It does not say which there are: it does not know who may hear of them. */
export const unknownServerText = (name: string): string =>
  `There is no server "${flattenText(name, { maxChars: 100 })}".`;
