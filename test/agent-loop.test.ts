import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { LoopEvent } from '../packages/gantry/src/agent/loop/loop-events.ts';
import { GantryError } from '../packages/gantry/src/kernel/errors.ts';
import { defineTool } from '../packages/gantry/src/tool/define-tool.ts';
import type { Tool } from '../packages/gantry/src/tool/executor.ts';
import { failedOutcome, textOutcome } from '../packages/gantry/src/tool/outcome.ts';
import { fakeClock } from '../packages/gantry/src/testing/fake-clock.ts';
import type { ScriptedLoop, ScriptedLoopOptions } from './fixtures/model-loop.ts';
import { offeredTools, saidIn, startLoop } from './fixtures/model-loop.ts';
import type { ModelScript } from './fixtures/model-server.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});
const start = async (script: ModelScript, options: ScriptedLoopOptions = {}): Promise<ScriptedLoop> =>
  open.use(await startLoop(script, options));

let ran: unknown[] = [];
const add = defineTool({
  name: 'add',
  description: 'Adds.',
  annotations: { readOnlyHint: true },
  input: z.strictObject({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => {
    ran.push({ a, b });
    return `${a + b}`;
  },
});
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  annotations: { readOnlyHint: true },
  execute: () => failedOutcome('execution_failed', 'the disk is full'),
});
afterEach(() => {
  ran = [];
});
const sum = { calls: [{ name: 'add', args: { a: 2, b: 3 } }] };

it.each(['stopped', 'cancelled', 'timeout'] as const)('goes on after a tool that throws "%s"', async (code) => {
  const thrown = defineTool({
    name: 'browse',
    description: 'Browses.',
    execute: () => Promise.reject(new GantryError(code, 'The browser has ended.')),
  });
  const loop = await start([{ calls: [{ name: 'browse', args: {} }] }, { text: 'It ended.' }], { tools: [thrown] });
  expect(await loop.run('go')).toMatchObject({ text: 'It ended.', endedBy: 'answer' });
  expect(saidIn(loop.model.requests[1]!)).toContain('The browser has ended.');
});

it('keeps on record what the model called with, whatever the tool does with it', async () => {
  const { registration } = defineTool({
    name: 'greedy',
    description: 'Takes all.',
    input: z.looseObject({}),
    execute: () => '',
  });
  const greedy: Tool = {
    registration,
    executor: {
      execute: async ({ arguments: args }) => {
        Object.assign(args, { self: args, list: undefined });
        return textOutcome('ok');
      },
    },
  };
  const loop = await start([{ calls: [{ name: 'greedy', args: { list: [1] } }] }, { text: 'ok' }], { tools: [greedy] });
  const { steps } = await loop.run('go');
  expect(steps[0]?.calls[0]?.arguments).toEqual({ list: [1] });
  expect(saidIn(loop.model.requests[1]!)).toContain('{\\"list\\":[1]}');
});

describe.each(['chat', 'responses', 'messages', 'gemini'] as const)('a turn over %s', (protocol) => {
  it('streams the answer, runs the call, and gives its result back', async () => {
    const loop = await start(
      [
        { text: ['Let me ', 'add.'], ...sum },
        { text: ['It is ', '5.'], usage: [20, 7] },
      ],
      {
        protocol,
        tools: [add],
      },
    );
    const result = await loop.run('2 + 3?');
    expect(result).toMatchObject({ text: 'It is 5.', endedBy: 'answer', tier: 'balanced', model: 'model-balanced' });
    expect(result.usage).toMatchObject({ inputTokens: 30, outputTokens: 12 });
    expect(result.steps).toMatchObject([
      { text: 'Let me add.', calls: [{ name: 'add', arguments: { a: 2, b: 3 }, status: 'done', result: '5' }] },
    ]);
    expect(ran).toEqual([{ a: 2, b: 3 }]);
    expect(loop.events.map(({ type }) => type)).toEqual(['text', 'text', 'tool-start', 'tool-end', 'text', 'text']);
    expect(offeredTools(loop.model.requests[0]!)).toContain('add');
    expect(saidIn(loop.model.requests[1]!)).toContain('"5"');
  });

  it('does not run a call that came whole in an answer that was cut off', async () => {
    const loop = await start([{ ...sum, finish: 'length' }, { text: 'sorry' }], { protocol, tools: [add] });
    await loop.run('go');
    expect(ran).toEqual([]);
  });

  it('gives a tool its own arguments, in whatever form the provider took its schema', async () => {
    const odd = defineTool({
      name: '3d.render',
      description: 'Renders.',
      input: z.strictObject({ $size: z.union([z.number(), z.string()]).optional(), list: z.array(z.any()) }),
      execute: (args) => {
        ran.push(args);
        return 'ok';
      },
    });
    const loop = await start(
      (request, number) => {
        const name = offeredTools(request).find((offered) => offered.includes('render')) ?? '';
        return number === 0 ? { calls: [{ name, args: { list: [1, 'a'] } }] } : { text: 'ok' };
      },
      { protocol, tools: [odd] },
    );
    const result = await loop.run('go');
    expect(result.steps[0]?.calls[0]).toMatchObject({ name: '3d.render', status: 'done' });
    expect(ran).toEqual([{ list: [1, 'a'] }]);
  });
});

describe.each(['chat', 'responses', 'messages'] as const)('a turn over %s', (protocol) => {
  it.each([300, 7_000])('refuses arguments that nest %d levels, and goes on', async (levels) => {
    const args = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const loop = await start([{ calls: [{ name: 'add', args }] }, { text: 'too deep' }], { protocol, tools: [add] });
    expect((await loop.run('go')).text).toBe('too deep');
    expect(saidIn(loop.model.requests[1]!)).toContain('nest more than 200 levels');
    expect(ran).toEqual([]);
  });

  it('runs the calls of one answer side by side, and answers each in its place', async () => {
    const gates = new Map(['x', 'y', 'z'].map((key) => [key, Promise.withResolvers<void>()]));
    const finished: string[] = [];
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      input: z.strictObject({ key: z.string() }),
      execute: async ({ key }) => {
        // Each is let go by the next one, so that they end the other way round: one after another they never would.
        if (key !== 'z') await gates.get(key)?.promise;
        finished.push(key);
        gates.get(key === 'z' ? 'y' : 'x')?.resolve();
        return `waited ${key}`;
      },
    });
    const calls = ['x', 'y', 'z'].map((key) => ({ name: 'wait', args: { key } }));
    const loop = await start([{ calls }, { text: 'done' }], { protocol, tools: [wait] });
    await loop.run('go');
    expect(finished).toEqual(['z', 'y', 'x']);
    const said = saidIn(loop.model.requests[1]!);
    expect(['x', 'y', 'z'].map((key) => said.indexOf(`waited ${key}`))).toSatisfy((at: number[]) =>
      at.every((place, index) => place > 0 && (index === 0 || place > at[index - 1]!)),
    );
  });

  it('never runs a call that was cut off, and says so to the model', async () => {
    const loop = await start(
      [{ calls: [{ name: 'add', args: '{"a": 2, "b"' }], finish: 'length' }, { text: 'sorry' }],
      { protocol, tools: [add] },
    );
    const result = await loop.run('go');
    expect(ran).toEqual([]);
    expect(result.steps).toMatchObject([{ calls: [{ status: 'failed', arguments: {} }] }]);
    const said = saidIn(loop.model.requests[1]!);
    expect(said).toContain('broke off');
    expect(said).not.toContain('\\"a\\": 2');
  });

  it('says what is wrong with arguments, and the model tries again', async () => {
    const loop = await start([{ calls: [{ name: 'add', args: { a: 'two', b: 3 } }] }, sum, { text: '5' }], {
      protocol,
      tools: [add],
    });
    expect((await loop.run('go')).text).toBe('5');
    expect(saidIn(loop.model.requests[1]!)).toContain('Tool \\"add\\" was not called');
  });

  it('answers a call to a tool that does not exist, under a name that providers take', async () => {
    const loop = await start([{ calls: [{ name: 'ad', args: {} }] }, { text: 'ok' }], { protocol, tools: [add] });
    expect((await loop.run('go')).text).toBe('ok');
    const said = saidIn(loop.model.requests[1]!);
    expect(said).toContain('Did you mean add?');
  });

  it('stops at once when it is aborted, in the middle of a stream too', async () => {
    const controller = new AbortController();
    const held = Promise.withResolvers<void>();
    const loop = await start([{ text: 'I begin', hold: held.promise }], { protocol });
    const running = loop.run('go', {
      signal: controller.signal,
      onEvent: ({ type }) => {
        if (type === 'text') controller.abort();
      },
    });
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
    held.resolve();
  });

  it('shortens what is too long for the model, once', async () => {
    const big = defineTool({ name: 'big', description: 'Big.', execute: () => 'x'.repeat(50_000) });
    const tooLong = {
      status: 400,
      message: "This model's maximum context length is 8000 tokens. However, your messages resulted in 13000 tokens.",
    };
    const loop = await start([{ calls: [{ name: 'big' }] }, tooLong, { text: 'short enough' }], {
      protocol,
      tools: [big],
    });
    expect((await loop.run('go')).text).toBe('short enough');
    const [, first, second] = loop.model.requests;
    expect(saidIn(first!).length).toBeGreaterThan(50_000);
    expect(saidIn(second!).length).toBeLessThan(32_000);
    expect(JSON.stringify(second!.body)).toContain('# Shortened results');
    const key = /`(stash\/s1\/[^`]+)`/.exec(JSON.stringify(second!.body))?.[1];
    expect((await loop.gantry.memory.get(key ?? ''))?.text).toBe('x'.repeat(50_000));
  });
});

it('marks for Anthropic what can be read from its cache: the instructions, and the conversation so far', async () => {
  const loop = await start([sum, { text: '5' }], { protocol: 'messages', tools: [add] });
  await loop.run('go');
  const mark = { cache_control: { type: 'ephemeral' } };
  for (const { body } of loop.model.requests) {
    expect(body['system']).toMatchObject([mark]);
    const last = (body['messages'] as { content: object[] }[]).at(-1);
    expect(last?.content.at(-1)).toMatchObject(mark);
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(2);
  }
});

describe('a turn', () => {
  it('comes to its end when the model never stops, with a look back at what was done', async () => {
    const loop = await start(
      (_request, number) => (number < 51 ? { text: `step ${number}`, ...sum } : { text: 'I added 50 times.' }),
      { tools: [add] },
    );
    const result = await loop.run('go');
    expect(result).toMatchObject({ text: 'I added 50 times.', endedBy: 'iterations' });
    expect(ran).toHaveLength(50);
    const last = loop.model.requests.at(-1)!;
    expect(last.body['tools']).toBeUndefined();
    expect(saidIn(last)).toContain('limit of tool calls');
    expect(saidIn(last)).not.toContain('tool_call_id');
  });

  it('is never silent: without a look back it ends in the last words that were said', async () => {
    const loop = await start((_request, number) => (number < 3 ? { text: `step ${number}`, ...sum } : {}), {
      tools: [add],
      limits: { maxToolIterations: 2 },
    });
    expect((await loop.run('go')).text).toBe('step 2');
  });

  it('asks once more when the look back only announces something', async () => {
    const loop = await start([sum, sum, { text: 'Here is what I did:' }, { text: 'I added.' }], {
      tools: [add],
      limits: { maxToolIterations: 1 },
    });
    expect((await loop.run('go')).text).toBe('I added.');
  });

  it('asks for a summary when the answer is empty', async () => {
    const loop = await start([sum, {}, { text: 'The sum is 5.' }], { tools: [add] });
    expect((await loop.run('go')).text).toBe('The sum is 5.');
  });

  it('ends after five failed calls in a row', async () => {
    const loop = await start(
      (request) => (request.body['tools'] ? { calls: [{ name: 'fail' }] } : { text: 'The disk is full.' }),
      { tools: [fail] },
    );
    const result = await loop.run('go');
    expect(result).toMatchObject({ text: 'The disk is full.', endedBy: 'errors' });
    expect(result.steps).toHaveLength(5);
  });

  it('lets a model see that all calls of an answer failed, and do better, once', async () => {
    const five = { calls: Array.from({ length: 5 }, () => ({ name: 'fail' })) };
    const better = await start([five, sum, { text: 'fine' }], { tools: [add, fail] });
    expect(await better.run('go')).toMatchObject({ text: 'fine', endedBy: 'answer' });
    const worse = await start([five, { calls: [{ name: 'fail' }] }, { text: 'The disk is full.' }], { tools: [fail] });
    expect(await worse.run('go')).toMatchObject({ text: 'The disk is full.', endedBy: 'errors' });
  });

  it('goes on when a call in between succeeds', async () => {
    const script = [...Array.from({ length: 4 }, () => 'fail'), 'add', ...Array.from({ length: 4 }, () => 'fail')];
    const loop = await start(
      [...script.map((name) => ({ calls: [{ name, args: name === 'add' ? { a: 1, b: 1 } : {} }] })), { text: 'fine' }],
      { tools: [add, fail] },
    );
    expect(await loop.run('go')).toMatchObject({ text: 'fine', endedBy: 'answer' });
  });

  it('stops with an apology after two answers in a row whose tools timed out', async () => {
    const slow = defineTool({
      name: 'slow',
      description: 'Slow.',
      execute: () => failedOutcome('timeout', 'No result within 5 ms.', 'later'),
    });
    const call = { calls: [{ name: 'slow' }] };
    const twice = await start([call, call, { text: 'never asked' }], { tools: [slow] });
    expect(await twice.run('go')).toMatchObject({ endedBy: 'timeouts', text: expect.stringContaining('too long') });
    expect(twice.model.requests).toHaveLength(2);
    const between = await start([call, sum, call, { text: 'went on' }], { tools: [slow, add] });
    expect(await between.run('go')).toMatchObject({ endedBy: 'answer', text: 'went on' });
  });

  it('tells a model that repeats itself', async () => {
    const loop = await start([sum, sum, sum, { text: 'enough' }], { tools: [add] });
    await loop.run('go');
    expect(saidIn(loop.model.requests[2]!)).not.toContain('in a row');
    expect(saidIn(loop.model.requests[3]!)).toContain('time 3 in a row');
  });

  it('writes a call down before it runs, and its result when it is there', async () => {
    const loop = await start([sum, { text: '5' }], { tools: [add] });
    await loop.run('go');
    expect(loop.recorded.map(([step]) => step?.calls[0]?.status)).toEqual(['running', 'done']);
  });

  it('masks secrets in what it writes down and in what it tells', async () => {
    const login = defineTool({
      name: 'login',
      description: 'Logs in.',
      input: z.strictObject({ password: z.string() }),
      execute: () => 'ok',
    });
    const loop = await start([{ calls: [{ name: 'login', args: { password: 'hunter2' } }] }, { text: 'ok' }], {
      tools: [login],
    });
    await loop.run('go');
    expect(JSON.stringify([loop.recorded, loop.events])).not.toContain('hunter2');
    expect(loop.events.map(({ type }) => type)).toContain('tool-start');
  });

  it('survives 200 calls in one answer, and answers each', async () => {
    const calls = Array.from({ length: 200 }, (_, a) => ({ name: 'add', args: { a, b: 1 } }));
    const loop = await start([{ calls }, { text: 'done' }], { tools: [add] });
    const result = await loop.run('go');
    expect(result.steps[0]?.calls.map((call) => call.result)).toEqual(calls.map(({ args }) => `${args.a + 1}`));
  });

  it('repairs ids that a model repeats', async () => {
    const loop = await start(
      [
        {
          calls: [
            { name: 'add', args: { a: 1, b: 1 }, id: 'same' },
            { name: 'add', args: { a: 2, b: 2 }, id: 'same' },
          ],
        },
        { text: 'done' },
      ],
      { tools: [add] },
    );
    await loop.run('go');
    expect(ran).toHaveLength(2);
    const messages = loop.model.requests[1]!.body['messages'] as { role: string; tool_call_id?: string }[];
    const ids = messages.filter(({ role }) => role === 'tool').map((message) => message.tool_call_id);
    expect(new Set(ids).size).toBe(2);
  });

  it('reads calls that a model writes as text', async () => {
    const loop = await start(
      [{ text: 'I will add.\ntool_call_name: ADD\ntool_call_arguments: {"a": 2,\n"b": 3}' }, { text: '5' }],
      { tools: [add], behaviors: { 'model-': { textToolCalls: true } } },
    );
    const result = await loop.run('go');
    expect(result.text).toBe('5');
    expect(ran).toEqual([{ a: 2, b: 3 }]);
    expect(result.steps[0]?.text).toBe('I will add.');
    expect(saidIn(loop.model.requests[1]!)).toContain('[Tool result for add]: 5');
  });

  it('runs no call that a model quotes: none at all unless its profile says so, else none that it was given', async () => {
    const call = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>';
    const page = defineTool({ name: 'page', description: 'A page.', execute: () => `Words. ${call} Words.` });
    const script = [{ calls: [{ name: 'page' }] }, { text: `It says:\n${call}` }];
    for (const textToolCalls of [false, true]) {
      const loop = await start(script, { tools: [add, page], behaviors: { 'model-': { textToolCalls } } });
      expect((await loop.run('quote the page')).text).toBe('It says:');
      const asked = await start([{ text: `You wrote:\n${call}` }], {
        tools: [add],
        behaviors: { 'model-': { textToolCalls } },
      });
      expect((await asked.run(`What is this? ${call}`)).text).toBe('You wrote:');
    }
    const plain = await start([{ text: `Look:\ntool_call_name: add\ntool_call_arguments: {"a": 1}` }], {
      tools: [add],
    });
    expect((await plain.run('show the format')).text).toContain('tool_call_name');
    expect(ran).toEqual([]);
  });

  it('tells a model that cannot call tools how to write a call, and shows it no tools otherwise', async () => {
    const told = await start([{ text: 'add\n{"a": 1, "b": 2}' }, { text: '3' }], {
      tools: [add],
      behaviors: { 'model-': { supportsTools: false, textToolCalls: true } },
    });
    expect((await told.run('go')).text).toBe('3');
    expect(told.model.requests[0]!.body['tools']).toBeUndefined();
    expect(saidIn(told.model.requests[0]!)).toContain('- add({');
    const silent = await start([{ text: 'add\n{"a": 1, "b": 2}' }], {
      tools: [add],
      settings: { supportsTools: false },
    });
    expect((await silent.run('go')).text).toContain('add');
    expect(ran).toHaveLength(1);
  });

  it('tells a model without tools in words what was called before', async () => {
    const loop = await start([{ text: 'ok' }], { settings: { supportsTools: false } });
    await loop.run('go', {
      messages: [
        { role: 'user', content: 'add' },
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'add', input: { a: 1 } }] },
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'add', output: { type: 'text', value: '5' } }],
        },
        { role: 'user', content: 'thanks' },
      ],
    });
    const said = saidIn(loop.model.requests[0]!);
    expect(said).toContain('[Called add with');
    expect(said).not.toContain('tool_calls');
  });

  it('keeps the list within what the model takes, and what others are found with on it', async () => {
    const many = Array.from({ length: 20 }, (_, n) =>
      defineTool({ name: `tool_${n}`, description: 'One of many.', execute: () => 'ok' }),
    );
    const loop = await start([{ calls: [{ name: 'tool_19' }] }, { text: 'ok' }], {
      tools: many,
      behaviors: { 'model-': { maxTools: 8 } },
    });
    const result = await loop.run('go');
    const offered = offeredTools(loop.model.requests[0]!);
    expect(offered).toHaveLength(8);
    expect(offered).toContain('get_from_working_memory');
    // What is not listed can be called all the same.
    expect(result.steps[0]?.calls[0]).toMatchObject({ name: 'tool_19', status: 'done' });
    // From then on it is listed.
    expect(offeredTools(loop.model.requests[1]!)).toContain('tool_19');
  });

  it('lists a tool that a call made available, in the same turn, and runs it', async () => {
    let isOpen = false;
    const hidden = defineTool({
      name: 'hidden',
      description: 'Hidden.',
      available: () => isOpen,
      execute: () => 'found me',
    });
    const openUp = defineTool({
      name: 'open_up',
      description: 'Opens.',
      execute: () => {
        isOpen = true;
        return 'open';
      },
    });
    const loop = await start([{ calls: [{ name: 'open_up' }] }, { calls: [{ name: 'hidden' }] }, { text: 'ok' }], {
      tools: [hidden, openUp],
    });
    await loop.run('go');
    const [first, second] = loop.model.requests;
    expect(offeredTools(first!)).not.toContain('hidden');
    expect(offeredTools(second!)).toContain('hidden');
    // In its place, wherever that is: the order does not tell when a tool came.
    const { tools } = loop.gantry.toolset({ namespace: 'session/s1' });
    expect(offeredTools(second!)).toEqual(tools.map(({ name }) => name));
    expect(offeredTools(second!).at(-1)).not.toBe('hidden');
    expect(saidIn(loop.model.requests[2]!)).toContain('found me');
  });

  it('runs nothing that the run was not given', async () => {
    const loop = await start([sum, { text: 'ok' }], { tools: [add] });
    await loop.run('go', { tools: ({ name }) => name !== 'add' });
    expect(ran).toEqual([]);
    expect(offeredTools(loop.model.requests[0]!)).not.toContain('add');
    expect(saidIn(loop.model.requests[1]!)).toContain('may not call');
  });

  it('nudges a model that announces a call and forgets it, once', async () => {
    const loop = await start([{ text: 'Now I will add:' }, { text: 'I will add:' }], { tools: [add] });
    expect((await loop.run('go')).text).toBe('I will add:');
    expect(loop.model.requests).toHaveLength(2);
    expect(saidIn(loop.model.requests[1]!)).toContain('Automatic check');
  });

  it('asks a model about actions that it claims, unless its profile says otherwise', async () => {
    const script = [{ text: 'I have sent the mail.' }, { text: 'I have not sent it.' }];
    const careful = await start(script, { tools: [add], behaviors: {} });
    expect((await careful.run('send it')).text).toBe('I have not sent it.');
    const trusted = await start(script, { tools: [add], behaviors: { 'model-': {} } });
    expect((await trusted.run('send it')).text).toBe('I have sent the mail.');
  });

  it('asks a model that gives up after a failed call for another way', async () => {
    const loop = await start([{ calls: [{ name: 'fail' }] }, { text: 'I was unable to access it.' }, { text: 'ok' }], {
      tools: [fail],
    });
    expect((await loop.run('go')).text).toBe('ok');
  });

  it('cuts what a model wrote for its own template', async () => {
    const loop = await start([{ text: '<think>hm</think>The answer is 4.<|im_end|>' }]);
    expect((await loop.run('go')).text).toBe('The answer is 4.');
  });

  it('says so when the provider filtered the answer', async () => {
    const loop = await start([{ finish: 'refusal' }]);
    expect((await loop.run('go')).text).toContain('content filter');
  });

  it('asks again when an answer stops for no reason, once', async () => {
    const once = await start([{ text: 'half', finish: 'none' }, { text: 'whole' }]);
    expect((await once.run('go')).text).toBe('whole');
    const twice = await start([
      { text: 'half', finish: 'none' },
      { text: 'half', finish: 'none' },
    ]);
    await expect(twice.run('go')).rejects.toMatchObject({ code: 'model_failed' });
  });

  it('asks once more when the connection is lost in the middle of an answer', async () => {
    const cutting = () => {
      const cuts = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const halves = cuts.map(({ promise }) => ({ text: 'Half', hold: promise }));
      const onEvent = (event: LoopEvent): void => {
        if (event.type === 'text' && event.text === 'Half') cuts.shift()?.reject(new Error('cut'));
      };
      return { halves, onEvent };
    };
    const first = cutting();
    const once = await start([...first.halves.slice(0, 1), { text: 'Whole.' }]);
    expect((await once.run('go', { onEvent: first.onEvent })).text).toBe('Whole.');
    const both = cutting();
    const twice = await start([...both.halves, { text: 'never asked' }]);
    await expect(twice.run('go', { onEvent: both.onEvent })).rejects.toMatchObject({
      code: 'model_failed',
      message: expect.stringContaining('broke off in the middle of its answer: the connection was lost'),
    });
    expect(twice.model.requests).toHaveLength(2);
  });

  it('gives up on a model that never stops talking', async () => {
    const loop = await start([{ text: Array.from({ length: 1_200 }, () => 'la '.repeat(400)) }]);
    await expect(loop.run('sing')).rejects.toMatchObject({
      code: 'model_failed',
      message: expect.stringContaining('did not come to an end'),
    });
  });

  it('answers each call that a model writes as text, also one that cannot be read', async () => {
    const loop = await start(
      [
        {
          text: 'tool_call_name: add\ntool_call_arguments: {"a": 1,\ntool_call_name: nope\ntool_call_arguments: {}\ntool_call_name: add\ntool_call_arguments: {"a": 1, "b": 1}',
        },
        { text: 'two' },
      ],
      { tools: [add], behaviors: { 'model-': { textToolCalls: true } } },
    );
    expect((await loop.run('go')).text).toBe('two');
    const said = saidIn(loop.model.requests[1]!);
    expect(said).toContain('they are not valid JSON');
    expect(said).toContain('There is no tool named \\"nope\\"');
    expect(said).toContain('[Tool result for add]: 2');
    expect(ran).toEqual([{ a: 1, b: 1 }]);
  });

  it('gives up on a model that sends nothing', async () => {
    const clock = fakeClock();
    const held = Promise.withResolvers<void>();
    const loop = await start([{ text: 'I', hold: held.promise }], { clock, limits: { callTimeoutMs: 90_000 } });
    const heard = Promise.withResolvers<void>();
    const running = loop.run('go', { onEvent: () => heard.resolve() });
    const settled = expect(running).rejects.toMatchObject({ code: 'timeout' });
    await heard.promise;
    await clock.advance(90_000);
    await settled;
    held.resolve();
  });

  it('waits on while a model sends something, however slowly', async () => {
    const clock = fakeClock();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const loop = await start([{ text: ['I ', 'am ', 'slow'], pauses: [first.promise, second.promise] }], {
      clock,
      limits: { callTimeoutMs: 90_000 },
    });
    let heard = Promise.withResolvers<void>();
    const running = loop.run('go', { onEvent: () => heard.resolve() });
    for (const pause of [first, second]) {
      await heard.promise;
      heard = Promise.withResolvers<void>();
      await clock.advance(89_000);
      pause.resolve();
    }
    expect((await running).text).toBe('I am slow');
  });

  it('tells the model that a tool took too long, and goes on', async () => {
    const clock = fakeClock();
    const started = Promise.withResolvers<void>();
    const never = defineTool({
      name: 'never',
      description: 'Never ends.',
      execute: () => {
        started.resolve();
        return new Promise<string>(() => {});
      },
    });
    const loop = await start([{ calls: [{ name: 'never' }] }, { text: 'It is too slow.' }], { clock, tools: [never] });
    const running = loop.run('go');
    await started.promise;
    await clock.advance(300_000);
    expect(await running).toMatchObject({ text: 'It is too slow.', endedBy: 'answer' });
    expect(saidIn(loop.model.requests[1]!)).toContain('gave no result within 300000 ms');
  });

  it('counts calls that were cut off as failed ones', async () => {
    const cut = { calls: [{ name: 'add', args: '{"a": 2, "b"' }], finish: 'length' } as const;
    const loop = await start((request) => (request.body['tools'] ? cut : { text: 'I cannot.' }), { tools: [add] });
    const result = await loop.run('go');
    expect(result).toMatchObject({ text: 'I cannot.', endedBy: 'errors' });
    expect(result.steps).toHaveLength(5);
    expect(ran).toEqual([]);
    // Nothing of what broke off is in the history or on record.
    expect(result.steps.map(({ calls }) => calls[0]?.arguments)).toEqual(Array.from({ length: 5 }, () => ({})));
    const [, second] = loop.model.requests;
    expect(saidIn(second!)).toContain('broke off before it was complete');
    expect(saidIn(second!).replaceAll('\\', '')).not.toContain('"a": 2');
  });

  it('has the limit of rounds of its run, else of its model', async () => {
    const script: ModelScript = (request) => (request.body['tools'] ? sum : { text: 'That is all.' });
    const rounds = async (run: object): Promise<number> => {
      const loop = await start(script, { tools: [add], behaviors: { 'model-': { maxToolIterations: 3 } } });
      return (await loop.run('go', run)).steps.length;
    };
    expect([await rounds({}), await rounds({ maxToolIterations: 1 })]).toEqual([3, 1]);
  });

  it('asks a model again that falls into characters nobody used, by its profile', async () => {
    const script = [{ text: 'The price is 5 元左右.' }, { text: 'The price is about 5 yuan.' }];
    const asked = await start(script, { behaviors: { 'model-': { nudgeUnexpectedCjk: true } } });
    expect((await asked.run('what does it cost?')).text).toBe('The price is about 5 yuan.');
    const trusted = await start(script);
    expect((await trusted.run('what does it cost?')).text).toContain('元');
  });

  it('waits for a provider that limits its rate, as long as it says', async () => {
    const limited = { status: 429, message: 'slow down', headers: { 'retry-after-ms': '1' } };
    const loop = await start([limited, { text: 'ok' }], { limits: { maxRetries: 2 } });
    expect((await loop.run('go')).text).toBe('ok');
    const out = await start([limited], { limits: { maxRetries: 0 } });
    await expect(out.run('go')).rejects.toMatchObject({ code: 'model_failed', retry: 'later' });
  });

  it('does not ask again before the time that a provider names, and says when it may be asked', async () => {
    const limited = { status: 429, message: 'slow down', headers: { 'retry-after': '3600' } };
    const loop = await start([limited, { text: 'too early' }], { limits: { maxRetries: 2 } });
    await expect(loop.run('go')).rejects.toMatchObject({
      code: 'model_failed',
      message: expect.stringContaining('it asks to wait 60 min'),
    });
    expect(loop.model.requests).toHaveLength(1);
  });

  it('does not take the wait between two attempts for silence of the model', async () => {
    const clock = fakeClock();
    const limited = { status: 429, message: 'slow down', headers: { 'retry-after-ms': '1' } };
    const asked: Promise<void>[] = [];
    const script: ModelScript = () => {
      // Time goes by between the attempts, more than a model may be silent.
      asked.push(clock.advance(800));
      return asked.length === 1 ? limited : { text: 'ok' };
    };
    const loop = await start(script, { clock, limits: { maxRetries: 2, callTimeoutMs: 1_000 } });
    expect((await loop.run('go')).text).toBe('ok');
    await Promise.all(asked);
  });

  it('says that a web page came for an answer', async () => {
    const page = { status: 200, message: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } };
    const loop = await start([page, { text: 'never asked' }]);
    await expect(loop.run('go')).rejects.toMatchObject({
      code: 'model_failed',
      message: expect.stringMatching(/answered with a web page.*Correct the tier's endpoint/),
    });
  });

  it('fails with the reason of an error inside the stream', async () => {
    const loop = await start([{ text: 'I', errorInStream: 'the engine is overloaded' }]);
    await expect(loop.run('go')).rejects.toMatchObject({
      code: 'model_failed',
      message: expect.stringContaining('overloaded'),
    });
  });

  it('aborts the calls that run, and keeps what they have done so far', async () => {
    const controller = new AbortController();
    const started = Promise.withResolvers<void>();
    const forever = defineTool({
      name: 'forever',
      description: 'Never ends.',
      execute: (_args, { signal }) => {
        started.resolve();
        return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('stopped'))));
      },
    });
    const loop = await start([{ calls: [{ name: 'add', args: { a: 1, b: 1 } }, { name: 'forever' }] }], {
      tools: [add, forever],
    });
    const added = Promise.withResolvers<void>();
    const running = loop.run('go', {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === 'tool-end' && event.name === 'add') added.resolve();
      },
    });
    const settled = expect(running).rejects.toMatchObject({ code: 'cancelled' });
    await Promise.all([started.promise, added.promise]);
    controller.abort();
    await settled;
    expect(loop.recorded.at(-1)?.[0]?.calls.find(({ name }) => name === 'add')).toMatchObject({ result: '2' });
  });
});

describe('what is too long', () => {
  it('fails when it is still too long after it was shortened', async () => {
    const big = defineTool({ name: 'big', description: 'Big.', execute: () => 'x'.repeat(50_000) });
    const tooLong = { status: 400, message: 'maximum context length is 8000 tokens, however you requested 13000' };
    const loop = await start([{ calls: [{ name: 'big' }] }, tooLong, tooLong], { tools: [big] });
    await expect(loop.run('go')).rejects.toMatchObject({ code: 'model_failed' });
    expect(loop.model.requests).toHaveLength(3);
  });

  it('does not spin when only the prompt is too long', async () => {
    const tooLong = { status: 400, message: 'maximum context length is 100 tokens, however you requested 13000' };
    const loop = await start([tooLong, tooLong]);
    await expect(loop.run('go', { systemPrompt: 'y'.repeat(100_000) })).rejects.toMatchObject({ code: 'model_failed' });
    expect(loop.model.requests).toHaveLength(1);
  });

  it('is shortened beforehand once the limit is known', async () => {
    const big = defineTool({ name: 'big', description: 'Big.', execute: () => 'x'.repeat(50_000) });
    const tooLong = { status: 400, message: 'maximum context length is 8000 tokens, however you requested 13000' };
    const call = { calls: [{ name: 'big' }] };
    const loop = await start([call, tooLong, { text: 'one' }, call, { text: 'two' }], { tools: [big] });
    await loop.run('go');
    await loop.run('again');
    expect(loop.model.requests).toHaveLength(5);
    expect(saidIn(loop.model.requests[4]!).length).toBeLessThan(32_000);
  });

  it('comes in chunks that are all there: 64,000 characters are given whole, 64,001 are not', async () => {
    const sized = defineTool({
      name: 'sized',
      description: 'Sized.',
      input: z.strictObject({ size: z.number() }),
      execute: ({ size }) => 'z'.repeat(size),
    });
    const call = (size: number) => ({ calls: [{ name: 'sized', args: { size } }] });
    const loop = await start(
      [call(64_000), { text: '1' }, call(64_001), { text: '2' }, call(5_000_000), { text: '3' }],
      {
        tools: [sized],
      },
    );
    await loop.run('a');
    expect(saidIn(loop.model.requests[1]!)).toContain('z'.repeat(64_000));
    await loop.run('b');
    expect(saidIn(loop.model.requests[3]!)).toContain('is large (64001 chars');
    await loop.run('c');
    const table = saidIn(loop.model.requests[5]!);
    const keys = [...table.matchAll(/`(session\/s1\/tool-sized-[0-9a-f]{8}-chunk\d+)`/g)].map(([, key]) => key!);
    const texts = await Promise.all(keys.map(async (key) => (await loop.gantry.memory.get(key))?.text ?? ''));
    expect(texts.join('')).toBe('z'.repeat(5_000_000));
  });
});

describe('the threshold for long results', () => {
  const long = defineTool({ name: 'long', description: 'Long.', execute: () => 'z'.repeat(32_001) });

  it('is that of the model', async () => {
    const loop = await start([{ calls: [{ name: 'long' }] }, { text: 'ok' }], {
      tools: [long],
      behaviors: { 'MODEL-bal': { toolResultChunkingThreshold: 32_000 } },
    });
    await loop.run('go');
    expect(saidIn(loop.model.requests[1]!)).toContain('is large (32001 chars');
  });

  it('is no matter for what is read from working memory', async () => {
    const loop = await start(
      [{ calls: [{ name: 'get_from_working_memory', args: { key: 'session/s1/big' } }] }, { text: 'ok' }],
      { behaviors: { 'model-': { toolResultChunkingThreshold: 1_000 } } },
    );
    await loop.gantry.memory.stash({
      namespace: 'session/s1',
      key: 'big',
      text: 'w'.repeat(90_000),
      category: 'x',
      ttlMs: 60_000,
    });
    await loop.run('go');
    expect(saidIn(loop.model.requests[1]!)).toContain('w'.repeat(90_000));
  });
});

describe('tiers', () => {
  it('makes a call that fails on the low tier once more on the balanced one', async () => {
    const loop = await start([{ text: 'from balanced' }], { low: [{ status: 500, message: 'broken' }] });
    expect(await loop.run('hi', { tier: 'low' })).toMatchObject({ text: 'from balanced', tier: 'balanced' });
    expect(loop.low?.requests).toHaveLength(1);
    expect(loop.events).toContainEqual({ type: 'model', tier: 'balanced', model: 'model-balanced' });
  });

  it('does not make a call that fails on the balanced tier again', async () => {
    const loop = await start([{ status: 500, message: 'broken' }], { low: [] });
    await expect(loop.run('hi')).rejects.toMatchObject({ code: 'model_failed' });
    expect(loop.model.requests).toHaveLength(1);
    expect(loop.low?.requests).toHaveLength(0);
  });

  it('moves up from the low tier when the turn acts, or fails twice', async () => {
    const act = defineTool({ name: 'act', description: 'Acts.', execute: () => 'done' });
    const acting = await start([{ text: 'b' }], { tools: [act], low: [{ calls: [{ name: 'act' }] }, { text: 'l' }] });
    expect((await acting.run('go', { tier: 'low' })).text).toBe('b');
    const failing = await start([{ text: 'b' }], {
      tools: [fail],
      low: [{ calls: [{ name: 'fail' }] }, { calls: [{ name: 'fail' }] }, { text: 'l' }],
    });
    expect((await failing.run('go', { tier: 'low' })).text).toBe('b');
    const reading = await start([{ text: 'b' }], { tools: [add], low: [sum, { text: 'l' }] });
    expect((await reading.run('go', { tier: 'low' })).text).toBe('l');
    const pinned = await start([{ text: 'b' }], { tools: [act], low: [{ calls: [{ name: 'act' }] }, { text: 'l' }] });
    expect((await pinned.run('go', { tier: 'low', isTierPinned: true })).text).toBe('l');
  });
});
