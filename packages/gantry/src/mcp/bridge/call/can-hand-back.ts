import { createHash } from 'node:crypto';
import type { CallContext } from '../../../tool/context.ts';
import { identityHashOf } from '../config/identity.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import type { Connection } from '../connection/open-connection.ts';
import type { OpenCall } from '../elicitation/open-call.ts';
import type { McpBridgeOptions } from '../bridge.ts';
import type { ElicitationPolicy } from '../elicitation/policy.ts';
import { parseElicitationPolicy } from '../elicitation/policy.ts';
import type { AskedCall } from '../questions/question-desk.ts';
import type { Offer } from '../server/managed-server.ts';

/**
 * Whether a question of this call may wait for its caller: an operator's always, a run's when the server's own policy says so and the
 * run can answer. Only the newer protocol lets a call end with a question and go on later.
 */
export const canHandBack = (
  open: OpenCall,
  context: CallContext,
  { isModern }: Pick<Connection, 'isModern'>,
): boolean => {
  if (!isModern) return false;
  if (context.caller === 'operator') return open.policy.mode === 'auto' || open.policy.mode === 'handback';
  return (
    context.caller === 'model' &&
    open.policy.mode === 'handback' &&
    context.answersQuestions === true &&
    context.namespace !== undefined
  );
};

/**
 * Whether anything could come of a question under this policy, beside what an operator's own call can do. A server that is told so asks, and
 * one that is not finds a way without; being asked in vain helps neither side. `decline` is the operator's word that it may ask.
 */
export const canAnswer = (
  policy: ElicitationPolicy,
  { responders, defaultResponder }: Pick<McpBridgeOptions, 'responders' | 'defaultResponder'>,
): boolean => {
  if (policy.mode !== 'auto') return policy.mode !== 'off';
  const responder = policy.responder ?? defaultResponder;
  return Object.keys(policy.defaults).length > 0 || (responder !== undefined && responders?.has(responder) === true);
};

/** The server as a question remembers it. */
export const toAskedServer = ({ name, entry }: Offer): AskedCall['server'] => ({
  name,
  id: entry.id,
  policyHash: policyHashOf(entry),
});

/** Of what a question of this server depends on: which server it is, and how it may be answered. */
export const policyHashOf = (entry: ServerEntry): string =>
  createHash('sha256')
    .update(JSON.stringify([identityHashOf(entry), entry.elicitation ?? null]))
    .digest('hex')
    .slice(0, 16);

/** Whether the entry's own block hands questions back. */
export const handsBack = ({ elicitation, origin }: ServerEntry): boolean =>
  origin !== 'agent' &&
  elicitation !== undefined &&
  parseElicitationPolicy(elicitation, { scope: 'server' }).policy.mode === 'handback';
