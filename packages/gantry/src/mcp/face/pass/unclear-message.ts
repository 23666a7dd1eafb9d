import { meantBy, otherCaseOf } from '../../wire/other-case.ts';

/**
 * Why policy cannot judge a message that goes on as it is: there are several at once, its method is no text, or a member of it can be read
 * in two ways. Undefined when it can.
 * @param message What the text was read as; undefined for anything but an object.
 */
export const unclearIn = (text: string, message: Readonly<Record<string, unknown>> | undefined): string | undefined => {
  if (!message) return 'Send one JSON-RPC message at a time; batches are not passed on.';
  if (hasDoubles(text, message)) return 'A member of the message is written twice; write it once.';
  const odd = messageInOtherCase(message);
  if (odd !== undefined)
    return `The message has a member "${odd}"; the protocol writes it "${odd.toLowerCase()}", and case counts.`;
  const { method } = message;
  if (method === undefined) return undefined;
  if (typeof method !== 'string') return 'The method of a message must be a text.';
  const meant = judgedMethod(method);
  return meant === undefined ? undefined : `The protocol writes the method "${meant}", and case counts.`;
};

/** A method that policy judges and that some readers would take this one for. */
const judgedMethod = meantBy([
  'initialize',
  'tools/call',
  'tools/list',
  'prompts/get',
  'prompts/list',
  'completion/complete',
  'subscriptions/listen',
  'tasks/get',
  'tasks/result',
  'tasks/update',
  'tasks/cancel',
  'tasks/list',
]);

/** A member of a message that some readers take for one of JSON-RPC. */
export const messageInOtherCase: (value: object) => string | undefined = otherCaseOf([
  'jsonrpc',
  'id',
  'method',
  'params',
  'result',
  'error',
]);

/** Whether some member of the text has two values, of which each reader takes its own (RFC 8259 section 4). */
export const hasDoubles = (text: string, value: unknown): boolean => membersIn(text) !== membersOf(value);

/** How many members objects have in a JSON text: strings with a colon behind them. */
const membersIn = (text: string): number => {
  let count = 0;
  let start = text.indexOf('"');
  while (start !== -1) {
    let end = text.indexOf('"', start + 1);
    while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
    let next = end + 1;
    while (next < text.length && ' \t\r\n'.includes(text[next] ?? '')) next += 1;
    if (text[next] === ':') count += 1;
    start = end === -1 ? -1 : text.indexOf('"', next);
  }
  return count;
};

const isEscaped = (text: string, quote: number): boolean => {
  let slashes = 0;
  while (text[quote - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
};

const membersOf = (value: unknown): number => {
  let count = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const values: unknown[] = Object.values(next);
    if (!Array.isArray(next)) count += values.length;
    for (const one of values) open.push(one);
  }
  return count;
};
