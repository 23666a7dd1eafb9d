import { beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import type { CallContext } from '../../tool/context.ts';
import type { Outcome } from '../../tool/outcome.ts';
import { outcomeText } from '../../tool/outcome-text.ts';
import { createOpaqueIds } from '../../tool/opaque-ids.ts';
import { createVolume } from '../../volume/volume.ts';
import { reportTool } from '../report-tool.ts';
import { subagentTools } from './subagent-tools.ts';
import type { RunningSubagent, SubagentTask } from './subagents.ts';

let spawned: SubagentTask[];
let running: RunningSubagent[];
let reported: string[];
beforeEach(() => {
  spawned = [];
  running = [];
  reported = [];
});

const tools = [
  ...subagentTools(
    {
      spawn: async (task) => {
        if (spawned.length > 0) throw new GantryError('limit_reached', 'Error: 1 subagent runs already.');
        spawned.push(task);
        return 'abcdef012345';
      },
      cancel: async (taskId) => taskId === 'abcdef012345',
      list: () => running,
    },
    {
      memory: { get: async () => undefined, list: async () => [] },
      volume: createVolume('/nonexistent'),
      defaultTimeoutMinutes: 10,
    },
  ),
  reportTool(async (_namespace, message) => void reported.push(message)),
];
const tool = (name: string) => tools.find(({ registration }) => registration.name === name)!;
const conversation: CallContext = { caller: 'model', namespace: 'session/s1' };
const call = (name: string, args: object = {}, context: CallContext = conversation): Promise<Outcome> => {
  const { executor, registration } = tool(name);
  return executor.execute({ id: 'c', name, arguments: args as never, registration }, context);
};
const said = async (...args: Parameters<typeof call>): Promise<string> => outcomeText(await call(...args));

describe('spawn_subagent', () => {
  it('gives the task id at once, and where its work can be read', async () => {
    const text = await said('spawn_subagent', { description: 'find x', context: 'for y', timeout_minutes: 2 });
    expect(text).toContain('task_id abcdef012345');
    expect(text).toContain('"subagent/abcdef012345/"');
    expect(spawned).toEqual([
      {
        description: 'find x',
        background: 'for y',
        timeoutMs: 120_000,
        inputs: undefined,
        maxIterations: undefined,
        consolidate: true,
      },
    ]);
  });

  it.each([
    ['find out who won', 5, 20],
    ['Research the market', 30, 30],
    ['add two numbers', 5, 5],
    ['Research the market', undefined, undefined],
  ])('gives "%s" with %s rounds %s', async (description, asked, given) => {
    await call('spawn_subagent', { description, max_iterations: asked });
    expect(spawned[0]?.maxIterations).toBe(given);
  });

  it('takes an input by its id of the turn', async () => {
    const ids = createOpaqueIds();
    ids.issue('media', 'plans/a.txt');
    const failing = call(
      'spawn_subagent',
      { description: 'x', inputs: ['media_1', 'media_2'] },
      { ...conversation, ids },
    );
    await expect(failing).rejects.toThrow('"plans/a.txt"; "media_2"');
  });

  it('starts nothing when an input does not exist', async () => {
    await expect(call('spawn_subagent', { description: 'x', inputs: ['nope'] })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
    expect(spawned).toEqual([]);
  });

  it('says that the limit is reached', async () => {
    await call('spawn_subagent', { description: 'x' });
    await expect(call('spawn_subagent', { description: 'y' })).rejects.toThrow(/^Error: 1 subagent/);
  });
});

describe('cancel_subagent and list_subagents', () => {
  it('say what there is', async () => {
    expect(await said('list_subagents')).toBe('There are no active subagents.');
    running = [{ taskId: 'abcdef012345', description: 'find\nx', elapsedMs: 65_400 }];
    expect(await said('list_subagents')).toBe('1 active subagent:\n- abcdef012345, for 65 s: find x');
    expect(await said('cancel_subagent', { task_id: 'abcdef012345' })).toBe('Subagent abcdef012345 was cancelled.');
    expect(await said('cancel_subagent', { task_id: 'fff' })).toBe(
      'There is no active subagent "fff". 1 active subagent:\n- abcdef012345, for 65 s: find x',
    );
  });
});

describe('who gets which tool', () => {
  it.each([
    ['a conversation', conversation, ['spawn_subagent', 'cancel_subagent', 'list_subagents']],
    [
      'an operator in a session',
      { ...conversation, caller: 'operator' },
      ['spawn_subagent', 'cancel_subagent', 'list_subagents'],
    ],
    ['a subagent', { caller: 'model', namespace: 'subagent/abcdef012345' }, ['report_progress']],
    ['a worker', { caller: 'model', namespace: 'worker/abcdef012345' }, ['report_progress']],
    ['a scheduled run', { caller: 'model', namespace: 'patrol/news' }, []],
    ['a pipeline', { caller: 'model', namespace: 'wisp/w1' }, []],
    ['a client', { caller: 'client', namespace: 'session/s1' }, []],
    ['nobody', { caller: 'model' }, []],
  ] as const)('%s', (_, context, names) => {
    const got = tools.filter(({ registration }) => registration.available?.(context) ?? true);
    expect(got.map(({ registration }) => registration.name)).toEqual(names);
  });

  it('a subagent reports', async () => {
    const context: CallContext = { caller: 'model', namespace: 'subagent/abcdef012345' };
    expect(await said('report_progress', { message: 'half way' }, context)).toBe('Reported. Go on.');
    expect(reported).toEqual(['half way']);
  });
});
