import { encode } from 'gpt-tokenizer';
import type { JsonObject } from '../../packages/gantry/src/kernel/json.ts';
import type { ModelRequest, ScriptedCall, ScriptedReply } from '../../test/fixtures/model-script.ts';
import type { Habit } from './agent-choice.ts';
import { chooseNext, isAttempt, toolOf } from './agent-choice.ts';
import type { AgentTask, TaskStep } from './agent-tasks.ts';
import type { SeenCall } from './agent-view.ts';
import { viewOf } from './agent-view.ts';

/** A scripted model: what it does wrong, one habit for all steps or several in turn. */
export interface Behaviour {
  readonly name: string;
  readonly habits: readonly [Habit, ...Habit[]];
}

/**
 * What a scripted model says to a request. It knows what its user wants, as a model would that has read the task, and takes everything
 * else from the request: which tools there are, what they take, what came of its calls. It gives up where the same call failed twice.
 */
export const scriptedReply = (
  { habits }: Behaviour,
  task: AgentTask,
  request: ModelRequest,
  offset: number,
): ScriptedReply => {
  const view = viewOf(request);
  const { tools, messages } = request.body;
  const usage = [encode(JSON.stringify({ tools, messages })).length, 1] as const;
  const habitAt = (step: number): Habit => habits[(offset + step) % habits.length] ?? habits[0];
  const { step, results, tries, habit } = progressOf(view.calls, task, habitAt);
  if (!step) return { text: `This is done. ${results.join('\n')}`, usage };
  // A request without tools asks for the last words.
  if (view.tools.size === 0 || isStuck(tries))
    return { text: `"${step.need}" did not work: ${tries.at(-1)?.result ?? ''}`, usage };
  const choice = chooseNext({ step, habit, view, tries });
  if (!choice) return { text: `There is no tool for "${step.need}".`, usage };
  if (choice.kind === 'look') return { calls: [{ name: choice.name, args: choice.args }], usage };

  const isFirst = !tries.some(isAttempt);
  const args = argumentsFor(step.values(results), choice.keys);
  const form = isFirst && habit === 'wrong-form' ? wrongForm(args) : args;
  const call: ScriptedCall =
    choice.server === undefined
      ? { name: choice.tool, args: form }
      : {
          name: 'mcp_invoke_tool',
          args: {
            server_name: choice.server,
            tool_name: choice.tool,
            arguments: form === args ? args : JSON.stringify(form),
          },
        };
  if (!isFirst || habit !== 'cut-off') return { calls: [call], usage };
  const text = JSON.stringify(call.args);
  return { calls: [{ ...call, args: text.slice(0, Math.ceil(text.length / 2)) }], finish: 'length', usage };
};

const progressOf = (
  calls: readonly SeenCall[],
  task: AgentTask,
  habitAt: (step: number) => Habit,
): {
  readonly step: TaskStep | undefined;
  readonly results: readonly string[];
  readonly tries: readonly SeenCall[];
  readonly habit: Habit;
} => {
  const results: string[] = [];
  let tries: SeenCall[] = [];
  for (const call of calls) {
    const step = task.steps[results.length];
    if (!step) break;
    tries.push(call);
    if (call.isFailed || !isAttempt(call) || !step.fits.test(toolOf(call))) continue;
    // Who loops goes on until it is told that it does.
    if (habitAt(results.length) === 'loops' && !call.result.includes('Calling it again will not change it')) continue;
    results.push(call.result);
    tries = [];
  }
  return { step: task.steps[results.length], results, tries, habit: habitAt(results.length) };
};

const isStuck = (tries: readonly SeenCall[]): boolean => {
  const [before, last] = tries.slice(-2);
  if (!before?.isFailed || !last?.isFailed) return false;
  return before.result === last.result && JSON.stringify(before.args) === JSON.stringify(last.args);
};

/** How a model names parameters that it has not seen. */
const guessedKeys: Readonly<Record<string, string>> = {
  path: 'filename',
  content: 'text',
  edits: 'changes',
  source: 'from',
  destination: 'to',
  query: 'q',
  location: 'city',
  a: 'x',
  b: 'y',
};

const argumentsFor = (values: JsonObject, keys: readonly string[] | undefined): JsonObject =>
  Object.fromEntries(
    keys
      ? Object.entries(values).filter(([key]) => keys.includes(key))
      : Object.entries(values).map(([key, value]) => [guessedKeys[key] ?? key, value]),
  );

/** Lists and numbers as JSON in a text, as small models send them. */
const wrongForm = (args: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(args).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
