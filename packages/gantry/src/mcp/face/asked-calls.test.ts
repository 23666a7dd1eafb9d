import { describe, expect, it } from 'vitest';
import { orAborted } from '../../kernel/abort.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { OnAsked } from '../../tool/context.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { AskedRequest } from './asked-calls.ts';
import { createAskedCalls } from './asked-calls.ts';
import type { ClientCall, ProgressParams } from './call-tool.ts';

const sealing = {
  seal: (text: string, context: string) => `${context}|${text}`,
  open: (sealed: string, context: string) => {
    if (!sealed.startsWith(`${context}|`)) throw new GantryError('usage', 'sealed for another');
    return sealed.slice(context.length + 1);
  },
};
const never = new AbortController().signal;
const box = { method: 'elicitation/create', params: { message: 'Which box?' } };
const roots = { method: 'roots/list', params: {} };
type Begun = Pick<ClientCall, 'signal' | 'notify'> & { readonly onAsked: OnAsked };

/** Calls that ask as `run` says, and end with what it gives. */
const make = (run: (call: Begun) => Promise<unknown>) => {
  const clock = fakeClock();
  const calls = createAskedCalls({ clock, sealing });
  const begun: Begun[] = [];
  const serve = async (more: Partial<AskedRequest> = {}): Promise<JsonObject> =>
    (await calls.serve({
      client: 'alice',
      tool: 't',
      state: undefined,
      responses: {},
      signal: never,
      notify: () => {},
      begin: async (call) => {
        begun.push(call);
        const said = await run(call);
        return { result: { content: [{ type: 'text', text: JSON.stringify(said) }] }, outputSchema: undefined };
      },
      ...more,
    })) as unknown as JsonObject;
  return { clock, calls, serve, begun };
};
const textOf = (answer: JsonObject): string => JSON.stringify(answer['result']);
const ask =
  (...questions: readonly { method: string; params: JsonObject }[]) =>
  ({ onAsked }: Begun): Promise<unknown> =>
    Promise.all(questions.map((question) => onAsked(question, never)));

describe('a call in the middle of which its client is asked', () => {
  it('gives what is asked, and goes on with the answers', async () => {
    const { serve, begun } = make(ask(box, roots));
    const asked = await serve();
    expect(asked).toMatchObject({ resultType: 'input_required', inputRequests: { q1: box, q2: roots } });
    const responses = { q1: { action: 'accept', content: { box: 'left' } }, q2: { roots: [] } };
    expect(textOf(await serve({ state: asked['requestState'], responses }))).toContain('left');
    expect(begun).toHaveLength(1);
  });

  it('may ask again', async () => {
    const { serve } = make(async ({ onAsked }) => [await onAsked(box, never), await onAsked(box, never)]);
    const first = await serve();
    const second = await serve({ state: first['requestState'], responses: { q1: { action: 'decline' } } });
    expect(second).toMatchObject({ resultType: 'input_required', inputRequests: { q1: box } });
    const done = await serve({ state: second['requestState'], responses: { q1: { action: 'cancel' } } });
    expect(textOf(done)).toMatch(/decline.*cancel/);
  });

  it.each([
    ['an answer that was given already', {}, true],
    ['the state of another client', { client: 'bob' }, false],
    ['the state of another tool', { tool: 'u' }, false],
    ['a state of its own making', { state: 'gantry.asked.mcp/alice|x' }, false],
    ['a state that is none', { state: 7 }, false],
  ])('does not go on with %s', async (_what, more, isAnswered) => {
    const { serve } = make(ask(box));
    const { requestState: state } = await serve();
    if (isAnswered) await serve({ state, responses: { q1: { action: 'decline' } } });
    await expect(serve({ state, ...more })).rejects.toMatchObject({ code: -32_602 });
  });

  it('counts what the client leaves out as taken back', async () => {
    const { serve } = make(async ({ onAsked }) => [
      await onAsked(box, never),
      await onAsked(roots, never).catch((error: unknown) => String(error)),
    ]);
    const first = await serve();
    const second = await serve({ state: first['requestState'] });
    expect(textOf(await serve({ state: second['requestState'] }))).toMatch(/cancel.*gave none/);
  });

  it('tells its client of progress on the request that is open', async () => {
    const { serve } = make(async ({ onAsked, notify }) => {
      notify({ progressToken: 'a', progress: 1 });
      await onAsked(box, never);
      notify({ progressToken: 'a', progress: 2 });
    });
    const heard: [string, number][] = [];
    const hearing = (name: string) => ({
      notify: ({ progress }: ProgressParams) => void heard.push([name, progress]),
    });
    const { requestState: state } = await serve(hearing('first'));
    await serve({ state, ...hearing('second') });
    expect(heard).toEqual([
      ['first', 1],
      ['second', 2],
    ]);
  });

  it('is cancelled with the request that is open, and not when one has ended', async () => {
    const { serve, begun } = make(async ({ onAsked, signal }) => {
      await onAsked(box, never);
      return await orAborted(new Promise(() => {}), signal);
    });
    const [first, second] = [new AbortController(), new AbortController()];
    const { requestState: state } = await serve({ signal: first.signal });
    first.abort();
    expect(begun[0]?.signal.aborted).toBe(false);
    const serving = serve({ state, signal: second.signal });
    second.abort();
    await expect(serving).rejects.toMatchObject({ code: 'cancelled' });
    expect(begun[0]?.signal.aborted).toBe(true);
  });

  it('is cancelled when its client does not come back in a quarter of an hour', async () => {
    const { serve, begun, clock } = make(ask(box));
    const { requestState: state } = await serve();
    await clock.advance(15 * 60_000 - 1);
    expect(begun[0]?.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(begun[0]?.signal.aborted).toBe(true);
    await expect(serve({ state })).rejects.toMatchObject({ code: -32_602 });
  });

  it('is cancelled when the gateway stops', async () => {
    const { serve, begun, calls } = make(ask(box));
    await serve();
    calls[Symbol.dispose]();
    expect(begun[0]?.signal.aborted).toBe(true);
  });

  it('is refused when too many of its client wait, and those of others are not', async () => {
    const { serve, begun } = make(ask(box));
    for (let count = 0; count < 50; count += 1) await serve();
    await expect(serve()).rejects.toThrow('Too many questions');
    expect(begun.at(-1)?.signal.aborted).toBe(true);
    expect(await serve({ client: 'bob' })).toMatchObject({ resultType: 'input_required' });
  });

  it('forgets a question that is taken back', async () => {
    const ending = new AbortController();
    const { serve } = make(async ({ onAsked }) => {
      const taken = onAsked(box, ending.signal).catch(() => 'taken back');
      ending.abort();
      return await taken;
    });
    expect(textOf(await serve())).toContain('taken back');
  });
});
