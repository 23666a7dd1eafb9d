import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import { piecesUntilStopped, untilStopped } from './until-stopped.ts';

const make = () => {
  const stopping = new AbortController();
  const given = { count: 0 };
  const stoppable = { id: 7, stopping: stopping.signal, abort: () => void (given.count += 1) };
  return { stoppable, given, stop: () => stopping.abort(new GantryError('stopped', 'Stopping.')) };
};
const never = new Promise<never>(() => {});

describe('an answer that its client waits for', () => {
  it('is given up with the reason when the gateway stops before it came', async () => {
    const { stoppable, given, stop } = make();
    const waiting = untilStopped(never, stoppable);
    stop();
    await expect(waiting).rejects.toMatchObject({ code: 'stopped' });
    expect(given.count).toBe(1);
  });

  it('comes as it is, or fails as it does, while the gateway runs', async () => {
    const { stoppable, given } = make();
    const response = new Response('x');
    expect(await untilStopped(Promise.resolve(response), stoppable)).toBe(response);
    await expect(untilStopped(Promise.reject(new Error('no')), stoppable)).rejects.toThrow('no');
    expect(given.count).toBe(0);
  });

  it('ends with an error for its request when the gateway stops in the middle of its stream', async () => {
    const { stoppable, given, stop } = make();
    const pieces = [Buffer.from('data: {"begun')];
    const next = piecesUntilStopped(() => (pieces.length > 0 ? Promise.resolve(pieces.shift()) : never), stoppable);
    expect(String(await next())).toBe('data: {"begun');
    const last = next();
    stop();
    const text = String(await last);
    expect(text).toMatch(/^\n\n/);
    expect(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '')).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32_603, message: 'Stopping.' },
    });
    expect([await next(), given.count]).toEqual([undefined, 1]);
  });

  it('ends as its stream does while the gateway runs', async () => {
    const { stoppable, given } = make();
    expect(await piecesUntilStopped(async () => undefined, stoppable)()).toBeUndefined();
    await expect(piecesUntilStopped(() => Promise.reject(new Error('broke')), stoppable)()).rejects.toThrow('broke');
    expect(given.count).toBe(0);
  });
});
