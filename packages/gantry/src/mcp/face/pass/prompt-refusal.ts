import { isObject } from '../../../kernel/json.ts';
import { otherCaseOf } from '../../wire/other-case.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import { rpcErrorResponse } from './rpc-response.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * What is said of a request for a prompt, or for completions of its arguments, instead of the server; undefined lets it go on. Where prompts
 * are hidden, what cannot be judged does not.
 */
export const promptRefusal = (
  target: Pick<PassTarget, 'isPromptAllowed' | 'hidesPrompts'>,
  message: Members,
): Response | undefined => {
  if (!target.hidesPrompts) return undefined;
  const asked = readPrompt(message);
  if (asked === undefined) return undefined;
  if ('problem' in asked) return rpcErrorResponse(message, 200, -32_602, asked.problem);
  const { prompt } = asked;
  // The words of the server itself would be as good; that it is there is nobody's to know.
  return target.isPromptAllowed(prompt)
    ? undefined
    : rpcErrorResponse(message, 200, -32_602, `Prompt ${prompt.slice(0, 100)} not found`);
};

type Asked = { readonly prompt: string } | { readonly problem: string };

// MCP 2025-11-25 and 2026-07-28, `GetPromptRequestParams` and `CompleteRequestParams`.
const readPrompt = ({ method, params }: Members): Asked | undefined => {
  if (method === 'prompts/get')
    return isObject(params)
      ? namedIn(params)
      : { problem: 'Invalid params: params must be an object with the name of a prompt.' };
  if (method !== 'completion/complete') return undefined;
  if (!isObject(params) || !isObject(params['ref']))
    return { problem: 'Invalid params: ref must be an object that names a prompt or a resource.' };
  const odd = refInOtherCase(params) ?? typeInOtherCase(params['ref']);
  if (odd !== undefined) return inOtherCase(odd);
  return params['ref']['type'] === 'ref/resource' ? undefined : namedIn(params['ref']);
};

const namedIn = (carrier: Members): Asked => {
  const odd = nameInOtherCase(carrier);
  if (odd !== undefined) return inOtherCase(odd);
  const { name } = carrier;
  return typeof name === 'string'
    ? { prompt: name }
    : { problem: 'Invalid params: name must be a text, the name of a prompt.' };
};

const inOtherCase = (odd: string): Asked => ({
  problem: `Invalid params: write "${odd}" as "${odd.toLowerCase()}"; case counts.`,
});

const nameInOtherCase = otherCaseOf(['name']);
const refInOtherCase = otherCaseOf(['ref']);
const typeInOtherCase = otherCaseOf(['type']);
