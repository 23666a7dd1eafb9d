import { beforeEach, describe, expect, it } from 'vitest';
import { silentLog as log } from '../../kernel/log.ts';
import type { Verdict } from '../bus.ts';
import { createEnvelope } from '../envelope.ts';
import type { DecodedMessage } from './message-codec.ts';
import { createMessageJudge, type MessageJudge } from './message-judge.ts';

const message = (more: Partial<DecodedMessage> = {}, messageId = 'm1'): DecodedMessage => ({
  envelope: createEnvelope({ messageType: 'Note', source: 'test', body: {}, messageId }),
  topic: 'note',
  attempts: 0,
  losses: 0,
  ...more,
});

let runs: number;
let answer: () => Promise<Verdict>;
let judge: MessageJudge['judge'];
beforeEach(() => {
  runs = 0;
  answer = async () => 'ack';
  const handler = (): Promise<Verdict> => {
    runs += 1;
    return answer();
  };
  ({ judge } = createMessageJudge({ subscriptionName: 'reader', handler, log }));
});

describe('a message that comes again', () => {
  it('waits for the handler that still runs, and shares its verdict', async () => {
    const gate = Promise.withResolvers<Verdict>();
    answer = () => gate.promise;
    const verdicts = [judge(message(), false), judge(message(), true), judge(message({ isResent: true }), false)];
    gate.resolve('dead-letter');
    for (const judged of await Promise.all(verdicts)) expect(judged).toEqual({ verdict: 'dead-letter' });
    expect(runs).toBe(1);
  });

  it('is handled when it was published twice on purpose, is another attempt, or was sent again but not here before', async () => {
    await judge(message(), false);
    await judge(message(), false);
    await judge(message({ attempts: 1 }), false);
    await judge(message({ isResent: true }, 'm2'), false);
    expect(runs).toBe(4);
  });

  it('goes behind the others when another process had it, and is buried when that was so too often', async () => {
    const note = { topic: 'note', attempts: 3, losses: 1 };
    expect(await judge(message({ attempts: 3 }), true)).toEqual({ verdict: 'requeue', note });
    expect(await judge(message({ losses: 9 }), true)).toMatchObject({ verdict: 'requeue', note: { losses: 10 } });
    expect(await judge(message({ losses: 10 }), true)).toEqual({ verdict: 'dead-letter' });
    expect(runs).toBe(0);
  });

  it('is remembered as one of the last thousand', async () => {
    for (let index = 0; index <= 1000; index += 1) await judge(message({}, `m${index}`), false);
    expect(await judge(message({}, 'm1'), true)).toEqual({ verdict: 'ack' });
    expect(await judge(message({}, 'm0'), true)).toMatchObject({ verdict: 'requeue' });
  });
});
