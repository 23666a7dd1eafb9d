import type { ServerContext } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { knowsMode } from '../../wire/elicitation-modes.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { CallPlace } from '../call-place.ts';
import { createNoticeBudget } from '../notice-budget.ts';
import type { Notice } from '../../wire/sessions/exchange.ts';
import { withoutHopMeta } from './generations.ts';

/** Who asks for which server. */
export interface Visit {
  readonly target: PassTarget;
  readonly client: string | undefined;
  /** Takes note of the result of a call, before the client hears of it. */
  readonly noteResult?: ((result: unknown) => Promise<void> | undefined) | undefined;
  /** Of a call, where there are limits for its client. */
  readonly place?: CallPlace | undefined;
}

/** Who may hear what a server says because of a request: whoever has this identity, or else what alone is known of the client. */
export const ownerOf = ({ client }: Pick<Visit, 'client'>, known: object): unknown => client ?? known;

/** A request of a client that is to be said in other words. */
export interface Relayed extends Visit {
  readonly method: string;
  readonly params: JsonObject;
  readonly ctx: ServerContext;
}

/** The parameters as the next hop gets them: without what belongs to the hop of the client. */
export const paramsOf = ({ params, ctx }: Pick<Relayed, 'params' | 'ctx'>): JsonObject => {
  const { _meta: meta } = ctx.mcpReq;
  return withoutHopMeta({ ...params, ...(meta && { _meta: meta as JsonObject }) });
};

/** What policy says of a call instead of the server; undefined lets it go on. */
export const refusalOf = async (target: PassTarget, params: JsonObject): Promise<JsonObject | undefined> => {
  const name = typeof params['name'] === 'string' ? params['name'] : '';
  if (!target.isAllowed(name))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name.slice(0, 100)} not found`);
  const args = isObject(params['arguments']) ? params['arguments'] : {};
  const text = await target.rejectionOf(name, args);
  return text === undefined ? undefined : { content: [{ type: 'text', text }], isError: true };
};

/** A list of tools or prompts without those that are hidden. */
export const filtered = (target: PassTarget, method: string, result: JsonObject): JsonObject => {
  if (method === 'tools/list') return withAllowed('tools', result, (tool) => target.isAllowed(tool));
  if (method === 'prompts/list' && target.hidesPrompts)
    return withAllowed('prompts', result, (prompt) => target.isPromptAllowed(prompt));
  return result;
};

const withAllowed = (
  list: 'tools' | 'prompts',
  result: JsonObject,
  isAllowed: (name: string) => boolean,
): JsonObject => {
  const { [list]: items } = result;
  if (!Array.isArray(items)) return result;
  const allowed = (items as readonly JsonObject[]).filter(({ name }) => typeof name === 'string' && isAllowed(name));
  return { ...result, [list]: allowed };
};

/**
 * Passes on to the client what the server says while its request runs: progress where it asked for that, and the log. Beyond 8 MB in one
 * request the rest is left out.
 */
export const tellClient = ({ ctx }: Pick<Relayed, 'ctx'>, wantsLog: boolean): ((notice: Notice) => void) => {
  const isTold = createNoticeBudget();
  return ({ method, params }) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    const isProgress = method === 'notifications/progress' && progressToken !== undefined;
    if (!isProgress && !(method === 'notifications/message' && wantsLog)) return;
    if (!isTold(params)) return;
    void ctx.mcpReq
      .notify({ method, params: isProgress ? { ...params, progressToken } : { ...params } })
      // Only a client that has gone is not told, and its call ends for that.
      .catch(() => undefined);
  };
};

/** Asks nobody: what a question is answered with that nobody may see. */
export const declined = { action: 'decline' } as const;

/** Whether a client that says it can do this may be asked the question of `elicitation/create`: it knows its mode, and policy allows it. */
export const takesQuestion = (
  { elicitation }: { readonly elicitation?: unknown },
  target: Pick<PassTarget, 'isDeclined'>,
  params: unknown,
): boolean =>
  isObject(elicitation) && isObject(params) && knowsMode(elicitation, params['mode']) && !target.isDeclined(params);

/** What a client must be able to do to be asked this. */
export const capabilityFor = (method: string): 'elicitation' | 'sampling' | 'roots' | undefined =>
  ({ 'elicitation/create': 'elicitation', 'sampling/createMessage': 'sampling', 'roots/list': 'roots' } as const)[
    method
  ];
