const name = String.raw`["'\u0060]?([A-Za-z_][\w.-]{0,99})["'\u0060]?`;

// How servers say that an argument is missing, as seen in the field.
const wordings: readonly RegExp[] = [
  new RegExp(String.raw`\brequired parameter:?\s+${name}`, 'i'),
  new RegExp(String.raw`\bmissing required argument:?\s+${name}`, 'i'),
  new RegExp(String.raw`\bexpected field:?\s+${name}`, 'i'),
  new RegExp(String.raw`${name}\s+is required\b`, 'i'),
  new RegExp(String.raw`${name}:\s+must be provided\b`, 'i'),
];

/** The argument that an error text says is missing; `undefined` when it says nothing of the kind in a wording that is understood. */
export const missingFieldIn = (text: string): string | undefined => {
  for (const wording of wordings) {
    const found = wording.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
};
