import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Exchange, ServerRequest } from './exchange.ts';

/**
 * The result of a request, in the middle of which what the server asks is answered by `answer`, side by side: the request may end before all
 * of it is answered. What `answer` throws is the answer too.
 * @throws {GantryError} what {@link Exchange.next} throws.
 */
export const answeredResult = async (
  exchange: Exchange,
  { signal, answer }: { readonly signal: AbortSignal; readonly answer: (asked: ServerRequest) => Promise<JsonObject> },
): Promise<JsonObject> => {
  for (;;) {
    const step = await exchange.next(signal);
    if ('result' in step) return step.result;
    for (const asked of step.asked) void settle(exchange, asked, { signal, answer });
  }
};

const settle = async (
  exchange: Exchange,
  asked: ServerRequest,
  { signal, answer }: { readonly signal: AbortSignal; readonly answer: (asked: ServerRequest) => Promise<JsonObject> },
): Promise<void> => {
  let said: JsonObject;
  try {
    said = { result: await answer(asked) };
  } catch (error) {
    // With its request it was given up for this client, which says nothing about it.
    if (signal.aborted) return;
    said = { error: { code: answerCodeOf(error), message: messageOf(error) } };
  }
  // Where it cannot be told any more the request has ended, which says so itself.
  await exchange.answer(asked.id, said).catch(() => undefined);
};

// What a client says that will not do what it is asked (MCP, "Sampling"); one that says why keeps its code.
const refusedCode = -1;
/** The code by which a client refuses what it was asked, for this reason. */
export const answerCodeOf = (error: unknown): number =>
  !GantryError.is(error) && isObject(error) && typeof error['code'] === 'number' ? error['code'] : refusedCode;
