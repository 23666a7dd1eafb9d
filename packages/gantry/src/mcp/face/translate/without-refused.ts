import type { PassTarget } from '../../wire/pass-port.ts';
import type { ClientSays } from '../../wire/sessions/client-says.ts';
import type { Exchange, ServerRequest } from '../../wire/sessions/exchange.ts';
import { capabilityFor, declined, takesQuestion } from './relayed.ts';

/** Answers what a client with these capabilities must not or cannot be asked; gives the rest. */
export const withoutRefused = async (
  {
    target,
    exchange,
  }: { readonly target: Pick<PassTarget, 'isDeclined'>; readonly exchange: Pick<Exchange, 'answer'> },
  asked: readonly ServerRequest[],
  { capabilities }: Pick<ClientSays, 'capabilities'>,
): Promise<ServerRequest[]> => {
  const open: ServerRequest[] = [];
  for (const request of asked) {
    const capability = capabilityFor(request.method);
    if (capability === undefined || !(capability in capabilities))
      await exchange.answer(request.id, {
        error: { code: -32_601, message: `The client cannot be asked for ${request.method.slice(0, 60)} here.` },
      });
    else if (capability === 'elicitation' && !takesQuestion(capabilities, target, request.params))
      await exchange.answer(request.id, { result: declined });
    else open.push(request);
  }
  return open;
};
