import { flattenText } from '../../../text/flatten.ts';

// RFC 9110 sections 5.1 and 5.5; white space around a value is not part of it.
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Says which header HTTP does not allow, never what is in it; undefined when all are allowed. */
export const headerProblemOf = (headers: Readonly<Record<string, string>>): string | undefined => {
  for (const [name, value] of Object.entries(headers)) {
    const shown = flattenText(name, { maxChars: 100 });
    if (!headerName.test(name)) return `"${shown}" cannot be the name of a header: letters, digits, "-" and "_" can.`;
    if (!headerValue.test(value.trim()))
      return `The value of header "${shown}" holds a character that HTTP does not allow, such as a line break.`;
  }
  return undefined;
};
