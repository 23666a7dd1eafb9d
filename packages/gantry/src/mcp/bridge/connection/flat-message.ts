import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { nestsTooDeep, tooDeep } from '../../wire/json-limits.ts';
import { toLostAnswer } from './lost-answer.ts';

/** The message of a server over SSE, of which the SDK gives no text: as it is, an error in its place where it nests too deep, or nothing. */
export const flatMessage = (message: JSONRPCMessage, server: string): JSONRPCMessage | undefined => {
  if (!nestsTooDeep(message)) return message;
  return 'method' in message || message.id === undefined ? undefined : toLostAnswer(message.id, tooDeep(server));
};
