import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WrapperMode } from '../packages/gantry/src/tool/context.ts';
import type { ModelScript } from '../test/fixtures/model-server.ts';
import { startModel } from '../test/fixtures/model-server.ts';
import type { Behaviour } from './lib/agent-scripted.ts';
import { scriptedReply } from './lib/agent-scripted.ts';
import type { AgentTask } from './lib/agent-tasks.ts';
import { makeTasks, seededMemory } from './lib/agent-tasks.ts';
import type { AgentWorld, ModelAt, RanTurn } from './lib/agent-world.ts';
import { startAgentWorld } from './lib/agent-world.ts';

const modes: readonly WrapperMode[] = ['eager', 'auto', 'pinned', 'off'];
const behaviours: readonly Behaviour[] = [
  { name: 'strong: looks, reads, then calls', habits: ['none'] },
  { name: 'takes the first name that fits', habits: ['first-name'] },
  { name: 'invents server names', habits: ['invented-server'] },
  { name: 'calls unknown tools', habits: ['unknown-tool'] },
  { name: 'sends lists and numbers as texts', habits: ['wrong-form'] },
  { name: 'cuts arguments off', habits: ['cut-off'] },
  { name: 'repeats calls that worked', habits: ['loops'] },
  {
    name: 'all of these in turn',
    habits: ['first-name', 'invented-server', 'unknown-tool', 'wrong-form', 'cut-off', 'loops'],
  },
];
const head = ['| model | mode | tasks done | calls | failed | tokens of requests |', '|---|---|---|---|---|---|'];

/**
 * Small tasks for the agent of a gateway with three public MCP servers, checked by their effect. The models are scripted, one for each way of
 * misusing tools; with `GANTRY_BENCH_MODEL_ENDPOINT` and `GANTRY_BENCH_MODEL_ID` (and `GANTRY_BENCH_MODEL_KEY`) a real one gets the same tasks.
 */
export const benchAgent = async (): Promise<string[]> => {
  const { GANTRY_BENCH_MODEL_ENDPOINT: endpoint, GANTRY_BENCH_MODEL_ID: modelId } = process.env;
  if (endpoint === undefined && modelId === undefined) return benchScripted();
  if (endpoint === undefined || modelId === undefined)
    return ['Not measured: a real model needs both GANTRY_BENCH_MODEL_ENDPOINT and GANTRY_BENCH_MODEL_ID.'];
  return benchReal({ endpoint, modelId, apiKey: process.env['GANTRY_BENCH_MODEL_KEY'] });
};

const benchReal = async (model: ModelAt): Promise<string[]> => {
  const rows: string[] = [];
  for (const mode of modes) {
    const [word] = words;
    await using world = await startAgentWorld(mode, model, seededMemory([word]));
    rows.push(...(await rowOf(model.modelId, mode, world, word)));
  }
  return [...head, ...rows];
};

const benchScripted = async (): Promise<string[]> => {
  const rows = new Map(behaviours.map(({ name }) => [name, [] as string[]]));
  let reply: ModelScript = () => ({ text: '' });
  await using model = await startModel((request, number) =>
    // What is not streamed is asked by the tool layer itself: what a server is for.
    request.body['stream'] === true && typeof reply === 'function' ? reply(request, number) : { text: 'A server.' },
  );
  for (const mode of modes) {
    const at = { endpoint: model.endpoint, modelId: 'scripted' };
    await using world = await startAgentWorld(mode, at, seededMemory(behaviours.map((_, index) => wordAt(index))));
    for (const [index, behaviour] of behaviours.entries()) {
      const row = await rowOf(behaviour.name, mode, world, wordAt(index), (task, number) => {
        reply = (request) => scriptedReply(behaviour, task, request, number);
      });
      rows.get(behaviour.name)?.push(...row);
    }
  }
  return [...head, ...[...rows.values()].flat()];
};

const words = ['amber', 'birch', 'cedar', 'dune', 'elm', 'fern', 'gorse', 'hazel'] as const;
const wordAt = (index: number): string => words[index] ?? `word${index}`;

/** Runs the tasks of one model in one mode: a row of the table; what was not done is said on standard error. */
const rowOf = async (
  name: string,
  mode: WrapperMode,
  world: AgentWorld,
  word: string,
  onTask: (task: AgentTask, number: number) => void = () => {},
): Promise<string[]> => {
  const folder = join(world.folder, word);
  mkdirSync(folder);
  const tasks = makeTasks({ folder, memoryFile: world.memoryFile, word });
  const turns: RanTurn[] = [];
  let done = 0;
  for (const [number, task] of tasks.entries()) {
    onTask(task, number);
    const turn = await world.ask(`${word}-${number}`, task.text);
    turns.push(turn);
    if (task.isDone(turn.reply)) done += 1;
    else console.error(`not done (${name}, ${mode}): ${task.name}: ${turn.reply}`);
  }
  const sum = (of: (turn: RanTurn) => number): string =>
    turns.reduce((all, turn) => all + of(turn), 0).toLocaleString('en');
  const [calls, failed, tokens] = [
    sum((turn) => turn.calls),
    sum((turn) => turn.failedCalls),
    sum((turn) => turn.inputTokens),
  ];
  return [`| ${name} | ${mode} | ${done} of ${tasks.length} | ${calls} | ${failed} | ${tokens} |`];
};
