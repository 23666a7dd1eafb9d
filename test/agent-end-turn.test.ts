import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool } from '../packages/gantry/src/tool/define-tool.ts';
import type { Outcome } from '../packages/gantry/src/tool/outcome.ts';
import { failedOutcome } from '../packages/gantry/src/tool/outcome.ts';
import type { ScriptedLoop, ScriptedLoopOptions } from './fixtures/model-loop.ts';
import { saidIn, startLoop } from './fixtures/model-loop.ts';
import type { ModelScript } from './fixtures/model-server.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});
const noArguments = z.strictObject({});
const sent = (endTurn: boolean): Outcome => ({ status: 'done', parts: [{ type: 'text', text: '👍' }], endTurn });

const tools = [
  defineTool({ name: 'react', description: 'Reacts.', input: noArguments, execute: () => sent(true) }),
  defineTool({ name: 'react_not', description: 'Reacts.', input: noArguments, execute: () => sent(false) }),
  defineTool({
    name: 'react_of_server',
    source: 'mcp:chat',
    description: 'Reacts.',
    input: noArguments,
    requiresFollowUp: false,
    execute: () => sent(true),
  }),
  defineTool({ name: 'look', description: 'Looks.', input: noArguments, execute: () => 'seen' }),
  ...['note', 'remember'].map((name) =>
    defineTool({ name, description: 'Notes.', requiresFollowUp: false, input: noArguments, execute: () => 'noted' }),
  ),
  defineTool({
    name: 'note_badly',
    description: 'Notes.',
    requiresFollowUp: false,
    input: noArguments,
    execute: () => failedOutcome('execution_failed', 'the disk is full'),
  }),
];
const start = async (script: ModelScript, options: ScriptedLoopOptions = {}): Promise<ScriptedLoop> =>
  open.use(await startLoop(script, { tools, ...options }));
const calls = (...names: readonly string[]) => names.map((name) => ({ name, args: {} }));

/** What a turn ends in whose first step says and calls that, and how often the model was asked. */
const endOf = async (text: string, ...names: readonly string[]): Promise<readonly [string, number]> => {
  const loop = await start([{ text, calls: calls(...names) }, { text: 'Asked again.' }]);
  const { text: last, endedBy, steps } = await loop.run('go');
  expect(endedBy).toBe('answer');
  expect(steps[0]?.calls.map(({ name }) => name)).toEqual(names);
  return [last, loop.model.requests.length];
};

describe('a tool that ends the turn', () => {
  it.each([
    ['with what the model wrote', 'Nice!', ['react'], 'Nice!'],
    ['with the text of its result, when the model wrote nothing', '', ['react'], '👍'],
    ['beside calls that would be followed up', 'Nice!', ['look', 'react', 'look'], 'Nice!'],
    ['also with words that only announce something', 'Let me react:', ['react'], 'Let me react:'],
  ])('ends it %s', async (_what, text, names, answer) => {
    expect(await endOf(text, ...names)).toEqual([answer, 1]);
  });

  it('does not end it when it says so of another call, or belongs to a server', async () => {
    expect(await endOf('Nice!', 'react_not')).toEqual(['Asked again.', 2]);
    expect(await endOf('Nice!', 'react_of_server')).toEqual(['Asked again.', 2]);
  });

  it.each([
    ['before', ['note_badly', 'react']],
    ['after', ['react', 'note_badly']],
    ['of a tool that nobody has, after', ['react', 'nope']],
  ])('does not end it while a call %s it failed, which the model has to hear of', async (_what, names) => {
    expect(await endOf('Nice!', ...names)).toEqual(['Asked again.', 2]);
  });

  it('ends it with a result that is too long to be given whole', async () => {
    const long = defineTool({
      name: 'long',
      description: 'Says much.',
      input: noArguments,
      execute: () => ({ status: 'done', endTurn: true, parts: [{ type: 'text', text: 'x'.repeat(70_000) }] }),
    });
    const loop = await start([{ calls: calls('long') }, { text: 'Asked again.' }], { tools: [long] });
    expect((await loop.run('go')).text).toContain('has been split into');
    expect(loop.model.requests).toHaveLength(1);
  });
});

describe('tools that need no follow-up', () => {
  it.each([
    ['all of them', ['note', 'remember'], 'Noted, I will remember it.', 1],
    ['one that does need it beside them', ['note', 'look'], 'Asked again.', 2],
    ['one of a server beside them', ['note', 'react_of_server'], 'Asked again.', 2],
    ['one of them that failed', ['note', 'note_badly'], 'Asked again.', 2],
    ['one that nobody has', ['note', 'nope'], 'Asked again.', 2],
  ])('let an answer stand that was written beside them: %s', async (_what, names, answer, requests) => {
    expect(await endOf('Noted, I will remember it.', ...names)).toEqual([answer, requests]);
  });

  it.each(['', ' \n', 'Let me note that:', 'Noting …'])(
    'are followed up when what stands beside them is no answer: %j',
    async (text) => {
      expect(await endOf(text, 'note')).toEqual(['Asked again.', 2]);
    },
  );

  it('leave the answer to the check, which may find it incomplete', async () => {
    const loop = await start([{ text: 'Done.', calls: calls('note') }, { text: 'Both are noted now.' }], {
      judge: { completionTries: 1, guardsActions: false, complete: async () => 'INCOMPLETE: one is left' },
    });
    const turn = { origin: 'person', text: 'note both' } as const;
    expect((await loop.run('note both', { turn })).text).toBe('Both are noted now.');
    expect(saidIn(loop.model.requests[1]!)).toContain('one is left');
  });
});
