import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';

/** An error in the words of the protocol; one of a server's own keeps its code and data. */
export const toProtocolError = (error: unknown): unknown => {
  if (!GantryError.is(error)) return error;
  const rpc = error.details['rpc'];
  if (isObject(rpc) && typeof rpc['code'] === 'number')
    return new ProtocolError(rpc['code'], String(rpc['message']), rpc['data']);
  return new ProtocolError(ProtocolErrorCode.InternalError, error.message);
};

/** An error as it is written to another process. */
export const toRpc = (error: unknown): JsonObject => {
  const said = toProtocolError(error);
  if (!(said instanceof ProtocolError)) return { code: ProtocolErrorCode.InternalError, message: messageOf(error) };
  return { code: said.code, message: said.message, ...(said.data !== undefined && { data: said.data as Json }) };
};

/** Reads what {@link toRpc} wrote. */
export const fromRpc = (said: unknown): ProtocolError => {
  const { code, message, data } = isObject(said) ? said : {};
  return new ProtocolError(
    typeof code === 'number' ? code : ProtocolErrorCode.InternalError,
    typeof message === 'string' ? message : 'The call failed.',
    data,
  );
};
