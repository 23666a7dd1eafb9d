import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { JudgeSettings } from '../packages/gantry/src/agent/loop/loop-run.ts';
import { defineTool } from '../packages/gantry/src/tool/define-tool.ts';
import type { Tool } from '../packages/gantry/src/tool/executor.ts';
import { failedOutcome, textOutcome } from '../packages/gantry/src/tool/outcome.ts';
import { toRegistration } from '../packages/gantry/src/tool/registration.ts';
import type { ScriptedLoop, ScriptedLoopOptions } from './fixtures/model-loop.ts';
import { saidIn, startLoop } from './fixtures/model-loop.ts';
import type { ModelScript } from './fixtures/model-server.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});
const start = async (script: ModelScript, options: ScriptedLoopOptions = {}): Promise<ScriptedLoop> =>
  open.use(await startLoop(script, options));

const readOnly = { readOnlyHint: true };
const big = defineTool({
  name: 'big',
  description: 'Big.',
  annotations: readOnly,
  input: z.strictObject({ size: z.number() }),
  execute: ({ size }) => `${'a'.repeat(size / 2)}${'z'.repeat(size / 2)}`,
});
const count = defineTool({
  name: 'count',
  description: 'Counts.',
  annotations: readOnly,
  input: z.strictObject({ n: z.number() }),
  execute: ({ n }) => `${n}`,
});
const again = (text: string) => ({ type: 'again', reason: expect.stringContaining(text) as string });

describe('calls of models', () => {
  /** The most requests that four turns had open at the same time. */
  const mostAtOnce = async (maxInFlight: number | undefined): Promise<number> => {
    let running = 0;
    let most = 0;
    const others = Promise.withResolvers<void>();
    const loop = await start(
      (_request, number) => {
        running += 1;
        most = Math.max(most, running);
        if (number === 3) others.resolve();
        // Where nothing is limited all four come before the first is answered.
        const hold = (maxInFlight === undefined ? others.promise : Promise.resolve()).then(() => void (running -= 1));
        return { text: 'ok', hold };
      },
      { maxInFlight },
    );
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => loop.run('go', { namespace: `session/${name}` })));
    return most;
  };

  it('are as many at once as there are turns, and no more than are allowed', async () => {
    expect(await mostAtOnce(undefined)).toBe(4);
    expect(await mostAtOnce(1)).toBe(1);
  });
});

describe('results in requests', () => {
  it('are shown up to a cap, and the whole is kept', async () => {
    const loop = await start([{ calls: [{ name: 'big', args: { size: 20_000 } }] }, { text: 'ok' }], {
      tools: [big],
      behaviors: { 'model-': { maxShownResultChars: 8_000 } },
    });
    await loop.run('go');
    const said = saidIn(loop.model.requests[1]!);
    expect(said.length).toBeLessThan(9_000);
    const [, key] = /the whole is at `(stash\/s1\/[^`]+)`/.exec(said) ?? [];
    expect((await loop.gantry.memory.get(key ?? ''))?.text).toBe(`${'a'.repeat(10_000)}${'z'.repeat(10_000)}`);
  });

  it('are shortened from a number of tokens on, before any provider refuses them', async () => {
    const call = { calls: [{ name: 'big', args: { size: 60_000 } }] };
    const loop = await start([call, call, call, { text: 'ok' }], {
      tools: [big],
      behaviors: { 'model-': { shortenAboveTokens: 30_000 } },
    });
    expect((await loop.run('go')).text).toBe('ok');
    for (const request of loop.model.requests) expect(JSON.stringify(request.body).length).toBeLessThan(130_000);
    expect(saidIn(loop.model.requests[3]!)).toContain('left out here');
    expect(saidIn(loop.model.requests[2]!).length).toBeGreaterThan(60_000);
  });

  it('are whole without these settings', async () => {
    const loop = await start([{ calls: [{ name: 'big', args: { size: 60_000 } }] }, { text: 'ok' }], { tools: [big] });
    await loop.run('go');
    expect(saidIn(loop.model.requests[1]!)).not.toContain('left out here');
  });
});

describe('a turn of many calls', () => {
  it('says once, after 20 rounds, that it still works', async () => {
    const rounds = Array.from({ length: 45 }, (_, n) => ({ calls: [{ name: 'count', args: { n } }] }));
    const loop = await start([...rounds, { text: 'done' }], { tools: [count] });
    await loop.run('count');
    const told = loop.events.filter(({ type }) => type === 'still-working');
    expect(told).toEqual([{ type: 'still-working', iterations: 20 }]);
    const before = loop.events.slice(0, loop.events.indexOf(told[0]!)).filter(({ type }) => type === 'tool-end');
    expect(before).toHaveLength(20);
  });

  it('says nothing of it before', async () => {
    const rounds = Array.from({ length: 19 }, (_, n) => ({ calls: [{ name: 'count', args: { n } }] }));
    const loop = await start([...rounds, { text: 'done' }], { tools: [count] });
    await loop.run('count');
    expect(loop.events.some(({ type }) => type === 'still-working')).toBe(false);
  });
});

describe('what the content filter stops', () => {
  const messages = [
    { role: 'user' as const, content: 'something that it does not like' },
    { role: 'assistant' as const, content: 'as you say' },
    { role: 'user' as const, content: 'what is 2 + 2?' },
  ];

  it('is asked for once more without the conversation before, where that is switched on', async () => {
    const loop = await start([{ finish: 'refusal' }, { text: '4' }], { limits: { retriesFiltered: true } });
    expect((await loop.run('', { messages })).text).toBe('4');
    expect(saidIn(loop.model.requests[0]!)).toContain('does not like');
    expect(saidIn(loop.model.requests[1]!)).not.toContain('does not like');
    expect(saidIn(loop.model.requests[1]!)).toContain('what is 2 + 2?');
    expect(loop.events).toContainEqual(again('content filter'));
  });

  it('is asked for once more also when the provider refuses the request for it', async () => {
    const refusal = {
      status: 400,
      message: "The response was filtered due to Azure OpenAI's content management policy.",
    };
    const on = await start([refusal, { text: '4' }], { limits: { retriesFiltered: true } });
    expect((await on.run('', { messages })).text).toBe('4');
    expect(saidIn(on.model.requests[1]!)).not.toContain('does not like');
    const twice = await start([refusal, refusal], { limits: { retriesFiltered: true } });
    await expect(twice.run('', { messages })).rejects.toMatchObject({ code: 'model_failed' });
    const off = await start([refusal]);
    await expect(off.run('', { messages })).rejects.toMatchObject({ code: 'model_failed' });
  });

  it('is said to be stopped when it is stopped again, when there is nothing to leave out, and by default', async () => {
    const twice = await start([{ finish: 'refusal' }, { finish: 'refusal' }], { limits: { retriesFiltered: true } });
    expect((await twice.run('', { messages })).text).toContain('content filter');
    const alone = await start([{ finish: 'refusal' }], { limits: { retriesFiltered: true } });
    expect((await alone.run('hm')).text).toContain('content filter');
    const off = await start([{ finish: 'refusal' }]);
    expect((await off.run('', { messages })).text).toContain('content filter');
    expect([twice, alone, off].map(({ model }) => model.requests.length)).toEqual([2, 1, 1]);
  });

  it('is not asked for again once a call was made, which would be made twice', async () => {
    const loop = await start([{ calls: [{ name: 'count', args: { n: 1 } }] }, { finish: 'refusal' }], {
      tools: [count],
      limits: { retriesFiltered: true },
    });
    expect((await loop.run('', { messages })).text).toContain('content filter');
    expect(loop.model.requests).toHaveLength(2);
  });
});

/** A small model that says these things in turn, and what it was asked. */
const judge = (said: readonly string[], settings: Partial<JudgeSettings> = {}) => {
  const asked: string[] = [];
  const complete: JudgeSettings['complete'] = async ({ prompt }) => {
    asked.push(prompt);
    return said[asked.length - 1] ?? 'COMPLETE';
  };
  return { asked, settings: { complete, completionTries: 0, guardsActions: false, ...settings } };
};
const person = { origin: 'person', text: 'Tidy the list up' } as const;

describe('an answer that a small model finds incomplete', () => {
  it('is asked for once more, with what is missing, and once only', async () => {
    const small = judge(['INCOMPLETE: two of three are left', 'INCOMPLETE: one is left'], { completionTries: 1 });
    const loop = await start(
      [{ text: 'Done.' }, { calls: [{ name: 'count', args: { n: 3 } }] }, { text: 'Done all.' }],
      {
        tools: [count],
        judge: small.settings,
      },
    );
    expect((await loop.run('tidy up', { turn: person })).text).toBe('Done all.');
    expect(small.asked).toHaveLength(1);
    const said = saidIn(loop.model.requests[1]!);
    expect(said).toContain('internal check');
    expect(said).toContain('Tidy the list up');
    expect(said).toContain('two of three are left');
    expect(loop.events).toContainEqual(again('incomplete'));
  });

  it('stands by default, in runs that are no turn of a conversation, and in scheduled ones', async () => {
    const small = judge(['INCOMPLETE'], { completionTries: 1 });
    const off = await start([{ text: 'Done.' }], { judge: judge(['INCOMPLETE']).settings });
    expect((await off.run('tidy up', { turn: person })).text).toBe('Done.');
    const other = await start([{ text: 'Done.' }, { text: 'Done.' }], { judge: small.settings });
    expect((await other.run('tidy up')).text).toBe('Done.');
    expect((await other.run('tidy up', { turn: { ...person, origin: 'schedule' } })).text).toBe('Done.');
    expect(small.asked).toEqual([]);
  });

  it('stands when the turn has begun work in the background', async () => {
    const small = judge(['INCOMPLETE'], { completionTries: 1 });
    const handle = { kind: 'task', id: 't1', expiresAt: '2027-01-01T00:00:00Z' } as const;
    const later: Tool = {
      registration: toRegistration({ name: 'later', description: 'Later.', source: 'local' }),
      executor: { execute: async () => ({ status: 'parked', handle, parts: [] }) },
    };
    const loop = await start([{ calls: [{ name: 'later' }] }, { text: 'Done.' }], {
      tools: [later],
      judge: small.settings,
    });
    expect((await loop.run('tidy up', { turn: person })).text).toBe('Done.');
    expect(small.asked).toEqual([]);
  });

  it('is not looked at when tools were too slow twice', async () => {
    const small = judge(['INCOMPLETE'], { completionTries: 1 });
    const slow = defineTool({
      name: 'slow',
      description: 'Slow.',
      execute: () => failedOutcome('timeout', 'The page timed out.'),
    });
    const loop = await start([{ calls: [{ name: 'slow' }] }, { calls: [{ name: 'slow' }] }], {
      tools: [slow],
      judge: small.settings,
    });
    expect((await loop.run('tidy up', { turn: person })).endedBy).toBe('timeouts');
    expect(small.asked).toEqual([]);
  });
});

describe('a turn that only shares information', () => {
  const sent: unknown[] = [];
  const send: Tool = {
    registration: toRegistration({
      name: 'mail__send',
      description: 'Sends.',
      source: 'mcp:mail',
      target: { server: 'mail', tool: 'send' },
    }),
    executor: {
      execute: async ({ arguments: args }) => {
        sent.push(args);
        return textOutcome('sent');
      },
    },
  };
  const shared = { origin: 'person', text: 'My flight was moved to Friday.' } as const;
  afterEach(() => sent.splice(0));
  const script = [{ calls: [{ name: 'mail__send', args: {} }] }, { text: 'Shall I write to Anna?' }];

  it('writes nowhere: the call does not run, and counts as failed', async () => {
    const small = judge(['SHARE'], { guardsActions: true });
    const loop = await start(script, { tools: [send], judge: small.settings });
    const result = await loop.run(shared.text, { turn: shared });
    expect(sent).toEqual([]);
    expect(result.steps[0]?.calls[0]).toMatchObject({ status: 'failed', result: expect.stringContaining('Not run') });
    expect(saidIn(loop.model.requests[1]!)).toContain('Not run');
    expect(small.asked).toHaveLength(1);
  });

  it.each([
    ['asks for it', { turn: shared }, 'ACT', true],
    ['is a scheduled one', { turn: { ...shared, origin: 'schedule' as const } }, 'SHARE', true],
    ['answers a late result', { turn: { ...shared, origin: 'notice' as const } }, 'SHARE', true],
    ['is not looked at', { turn: shared }, 'SHARE', false],
  ])('writes when it %s', async (_when, run, said, guardsActions) => {
    const loop = await start(script, { tools: [send], judge: judge([said], { guardsActions }).settings });
    await loop.run(shared.text, run);
    expect(sent).toEqual([{}]);
  });
});

describe('an unknown name', () => {
  it('is answered with what this run has, and with nothing that it was not given', async () => {
    const loop = await start([{ calls: [{ name: 'weather' }, { name: 'big' }] }, { text: 'ok' }], {
      tools: [big, count],
    });
    await loop.run('go', { tools: ({ name }) => name === 'count' });
    const said = saidIn(loop.model.requests[1]!);
    expect(said).toContain('There is no tool named \\"weather\\" that you can call. You can call: count.');
    expect(said).toContain('may not call \\"big\\". It may call what is in your list: count.');
  });

  it('is answered with the nearest ones and all others while these are few', async () => {
    const loop = await start([{ calls: [{ name: 'cuont' }] }, { text: 'ok' }], { tools: [big, count] });
    await loop.run('go');
    expect(saidIn(loop.model.requests[1]!)).toMatch(/Did you mean count\? You can call: [^.]*big, count/);
  });
});
