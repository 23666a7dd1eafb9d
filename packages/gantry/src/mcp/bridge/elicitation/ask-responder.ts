import { orAborted, startDeadline } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { ElicitationAnswer, ElicitationRequest, ElicitationResponder } from './responder.ts';

/**
 * Asks a responder within its time; 0 or less sets none. Whatever goes wrong, an answer of an unknown shape included, is a decline, and
 * is logged with its cause.
 */
export const askResponder = async (
  responder: ElicitationResponder,
  request: ElicitationRequest,
  { timeoutMs, clock, log }: { readonly timeoutMs: number; readonly clock: Clock; readonly log: Log },
): Promise<ElicitationAnswer> => {
  const { server } = request;
  using deadline =
    timeoutMs > 0 ? startDeadline(clock, timeoutMs, { signal: request.signal, keepsAlive: true }) : undefined;
  const signal = deadline?.signal ?? request.signal;
  try {
    // A responder may come from outside, where types promise nothing.
    const answer: unknown = await orAborted(answerOf(responder, { ...request, signal }), signal);
    if (isObject(answer) && answer['action'] === 'accept' && isObject(answer['content']))
      return { action: 'accept', content: answer['content'] as ElicitationContent };
    if (isObject(answer) && answer['action'] === 'decline')
      return {
        action: 'decline',
        reason: typeof answer['reason'] === 'string' ? answer['reason'] : 'no reason was given',
      };
    log.warn({ server }, 'A responder gave something that is no answer; the question is declined.');
    return { action: 'decline', reason: 'what was meant to answer it gave no answer' };
  } catch (error) {
    if (deadline?.expired()) return { action: 'decline', reason: `no answer was found within ${timeoutMs} ms` };
    if (!signal.aborted) log.warn({ server, error: messageOf(error) }, 'A responder failed; the question is declined.');
    return { action: 'decline', reason: 'what was meant to answer it failed' };
  }
};

type ElicitationContent = Extract<ElicitationAnswer, { action: 'accept' }>['content'];

// One that throws at once fails like one that rejects.
const answerOf = async (responder: ElicitationResponder, request: ElicitationRequest): Promise<ElicitationAnswer> =>
  await responder.answer(request);
