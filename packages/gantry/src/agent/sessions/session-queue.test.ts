import { describe, expect, it } from 'vitest';
import { createSessionQueue } from './session-queue.ts';

const gate = (): PromiseWithResolvers<void> => Promise.withResolvers<void>();
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    else signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('the queue of a session', () => {
  it('runs one thing after the other, and sessions side by side', async () => {
    const queue = createSessionQueue();
    const seen: string[] = [];
    const first = gate();
    const a = queue.run('s', async () => {
      seen.push('a begins');
      await first.promise;
      seen.push('a ends');
    });
    const b = queue.run('s', async () => void seen.push('b'));
    await queue.run('other', async () => void seen.push('other'));
    expect(seen).toEqual(['a begins', 'other']);
    first.resolve();
    await Promise.all([a, b]);
    expect(seen).toEqual(['a begins', 'other', 'a ends', 'b']);
  });

  it('goes on when something fails, and tells only who asked for it', async () => {
    const queue = createSessionQueue();
    const failed = queue.run('s', () => Promise.reject(new Error('no')));
    const after = queue.run('s', async () => 'fine');
    await expect(failed).rejects.toThrow('no');
    expect(await after).toBe('fine');
  });

  it('ends what runs for something urgent, which goes before what waits', async () => {
    const queue = createSessionQueue();
    const reason = new Error('newer');
    const seen: string[] = [];
    const running = queue.run('s', untilAborted);
    const waiting = queue.run('s', async () => void seen.push('waiting'));
    const urgent = queue.run('s', async () => void seen.push('urgent'), { isUrgent: true, reason });
    await expect(running).rejects.toBe(reason);
    await Promise.all([waiting, urgent]);
    expect(seen).toEqual(['urgent', 'waiting']);
  });

  it('begins something urgent that was overtaken as aborted, so that it can be put on record', async () => {
    const queue = createSessionQueue();
    const reason = new Error('newer');
    const states: boolean[] = [];
    const note = async (signal: AbortSignal): Promise<void> => void states.push(signal.aborted);
    const running = queue.run('s', untilAborted).catch(() => undefined);
    await Promise.all([
      queue.run('s', note, { isUrgent: true, reason }),
      queue.run('s', note, { isUrgent: true, reason }),
      running,
    ]);
    expect(states).toEqual([true, false]);
  });

  it('ends what runs when it is asked to, and says whether there was something', async () => {
    const queue = createSessionQueue();
    expect(queue.abort('s', new Error('x'))).toBe(false);
    const running = queue.run('s', untilAborted);
    expect(queue.abort('s', new Error('stop'))).toBe(true);
    await expect(running).rejects.toThrow('stop');
  });

  it('tells everybody who waits when it is closed, and waits for them', async () => {
    const queue = createSessionQueue();
    const seen: boolean[] = [];
    const running = queue.run('s', untilAborted);
    const waiting = queue.run('s', async (signal) => void seen.push(signal.aborted));
    const closed = queue.close(new Error('stopping'));
    await expect(running).rejects.toThrow('stopping');
    await Promise.all([waiting, closed]);
    expect(seen).toEqual([true]);
  });
});
