import { GantryError } from '../../kernel/errors.ts';
import { flattenText } from '../../text/flatten.ts';
import type { UserMessage } from './agent-sessions.ts';
import { sessionIdPattern, sessionIdRule } from './session-id.ts';

const maxMessageChars = 400_000;
const mostNamed = 20;
// It stands in backticks, in a line of its own, before the model, and is read as it is written.
const attachmentPath = /^[^\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`]{1,1024}$/u;

/** Refuses a message that no turn can be made of. @throws {GantryError} `invalid_arguments` */
export const checkMessage = ({ sessionId, text, attachments = [], refersTo = [] }: UserMessage): void => {
  if (!sessionIdPattern.test(sessionId))
    throw refused(`"${sessionId.slice(0, 100)}" is no session id; use ${sessionIdRule}.`);
  if (text.trim() === '') throw refused('The message is empty; say something.');
  if (text.length > maxMessageChars)
    throw refused(
      `The message has ${text.length} characters and ${maxMessageChars} are the most; put it into a file of the shared folder and name that.`,
    );
  if (attachments.length > mostNamed || refersTo.length > mostNamed)
    throw refused(
      `The message comes with ${attachments.length} files and refers to ${refersTo.length} messages; ${mostNamed} of each are the most. Send the others with a further message.`,
    );
  const odd = attachments.find((path) => !attachmentPath.test(path));
  if (odd !== undefined)
    throw refused(
      `"${flattenText(odd)}" is no path of an attachment; it has 1 to 1024 characters, none of them a control character, one that turns the direction of reading, or a backtick.`,
    );
};

const refused = (message: string): GantryError => new GantryError('invalid_arguments', message);
