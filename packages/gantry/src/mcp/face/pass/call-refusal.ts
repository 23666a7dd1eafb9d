import { isObject } from '../../../kernel/json.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { otherCaseOf } from '../../wire/other-case.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import { rpcErrorResponse, rpcResultResponse } from './rpc-response.ts';

type Message = Readonly<Record<string, unknown>>;

/** What is said of a call instead of the server; undefined lets it go on. What policy cannot judge does not. */
export const callRefusal = async (
  target: Pick<PassTarget, 'isAllowed' | 'rejectionOf'>,
  message: Message,
): Promise<Response | undefined> => {
  const call = readCall(message['params']);
  if ('problem' in call) return rpcErrorResponse(message, 200, -32_602, call.problem);
  const { tool, args } = call;
  // The words of the server itself would be as good; that it is there is nobody's to know.
  if (!target.isAllowed(tool)) return rpcErrorResponse(message, 200, -32_602, `Tool ${tool.slice(0, 100)} not found`);
  const rejection = await target.rejectionOf(tool, args);
  return rejection === undefined
    ? undefined
    : rpcResultResponse(message, { content: [{ type: 'text', text: rejection }], isError: true });
};

// MCP 2025-11-25 and 2026-07-28, `CallToolRequestParams`: a name, and arguments that are an object where there are any.
const readCall = (
  params: unknown,
): { readonly tool: string; readonly args: JsonObject } | { readonly problem: string } => {
  if (!isObject(params)) return { problem: 'Invalid params: params must be an object with the name of a tool.' };
  const odd = paramInOtherCase(params);
  if (odd !== undefined) return { problem: `Invalid params: write "${odd}" as "${odd.toLowerCase()}"; case counts.` };
  const { name, arguments: args } = params;
  if (typeof name !== 'string') return { problem: 'Invalid params: name must be a text, the name of a tool.' };
  if (args !== undefined && !isObject(args))
    return { problem: 'Invalid params: arguments must be an object; leave it out where there are none.' };
  return { tool: name, args: (args ?? {}) as JsonObject };
};

const paramInOtherCase = otherCaseOf(['name', 'arguments']);
