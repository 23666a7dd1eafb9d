import type { Admission, AdmitCall } from '../../mcp/face/admit-call.ts';
import type { CompiledRules } from './client-rules.ts';
import type { CallRate } from './local-rate.ts';

/** Holds the calls of each client to its rule: how many in a minute, and how many run in this process. */
export const createCallLimits = ({
  rules,
  rate,
}: {
  readonly rules: Pick<CompiledRules, 'of'>;
  readonly rate: CallRate;
}): AdmitCall => {
  const running = new Map<string, number>();

  const begin = (client: string): Disposable => {
    running.set(client, (running.get(client) ?? 0) + 1);
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        const left = (running.get(client) ?? 1) - 1;
        if (left > 0) running.set(client, left);
        else running.delete(client);
      },
    };
  };

  return (identity) => {
    const { callsPerMinute, maxConcurrentCalls } = rules.of(identity);
    if (callsPerMinute === undefined && maxConcurrentCalls === undefined) return nothing;
    const client = identity ?? '';
    const others = running.get(client) ?? 0;
    if (maxConcurrentCalls !== undefined && others >= maxConcurrentCalls)
      return {
        refusal: `${others} of your calls run already, which is the most; wait for one to end.`,
        retryAfterS: 1,
      };
    const call = begin(client);
    if (callsPerMinute === undefined) return call;
    const judge = (retryAfterS: number | undefined): Admission => {
      if (retryAfterS === undefined) return call;
      call[Symbol.dispose]();
      return { refusal: `You may make ${callsPerMinute} calls a minute; try again in ${retryAfterS} s.`, retryAfterS };
    };
    const waitS = rate.take(client, callsPerMinute);
    if (!(waitS instanceof Promise)) return judge(waitS);
    return waitS.then(judge, (error: unknown) => {
      call[Symbol.dispose]();
      throw error;
    });
  };
};

const nothing: Disposable = { [Symbol.dispose]: () => {} };
