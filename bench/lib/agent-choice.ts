import type { TaskStep } from './agent-tasks.ts';
import type { ModelView, SeenCall } from './agent-view.ts';
import { keysIn } from './agent-view.ts';

/** What a scripted model does wrong, each time it begins with something new. `none`: it searches, reads, and calls what it found. */
export type Habit = 'none' | 'first-name' | 'invented-server' | 'unknown-tool' | 'wrong-form' | 'cut-off' | 'loops';

/** What a model does next: look for a tool, or call one. */
export type Choice =
  | { readonly kind: 'look'; readonly name: string; readonly args: Readonly<Record<string, string>> }
  /** `keys`: the names of its parameters, where the model has seen them. `server`: called by `mcp_invoke_tool`. */
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly server?: string | undefined;
      readonly keys?: readonly string[] | undefined;
    };

/** What a choice is made from. */
export interface ChoiceInput {
  readonly step: TaskStep;
  readonly habit: Habit;
  readonly view: ModelView;
  /** The calls made for this step, oldest first. */
  readonly tries: readonly SeenCall[];
}

const invoke = 'mcp_invoke_tool';
const lookups = ['mcp_find_tools', 'mcp_list_services', 'mcp_get_service_details'];

/** The name of the tool that a call was for, also behind `mcp_invoke_tool`. */
export const toolOf = ({ name, args }: SeenCall): string =>
  name === invoke && typeof args['tool_name'] === 'string' ? args['tool_name'] : name;

/** Whether a call was an attempt at the thing itself, not a search. */
export const isAttempt = ({ name }: SeenCall): boolean => !lookups.includes(name);

/**
 * Chooses from what the model was shown in this turn and nothing else; undefined: it sees no way. After an error it does what the text
 * names. Where the text names nothing, a careful model searches, and one with a bad habit makes the same call again.
 */
export const chooseNext = (input: ChoiceInput): Choice | undefined => {
  const { tries, habit } = input;
  const last = tries.at(-1);
  if (last?.isFailed) {
    const told = chooseByError(input, last);
    if (told ?? habit !== 'none') return told ?? sameAgain(last, input.view);
  }
  const idea = tries.some(isAttempt) ? undefined : firstIdea(input);
  return idea ?? chooseSeen(input) ?? chooseSearch(input);
};

const firstIdea = ({ step, habit, view }: ChoiceInput): Choice | undefined => {
  const { guessedServer: server, guessedTool: tool } = step;
  if (habit === 'unknown-tool') return { kind: 'call', tool };
  if (habit === 'first-name') {
    const name = [...view.tools.keys()].find((listed) => step.fits.test(listed));
    return name === undefined ? undefined : { kind: 'call', tool: name, keys: view.tools.get(name) };
  }
  if (habit !== 'invented-server') return undefined;
  const namesTools = view.tools.has('mcp_find_tools') || [...view.tools.keys()].some((name) => name.includes('__'));
  return namesTools ? { kind: 'call', tool: `${server}__${tool}` } : { kind: 'call', tool, server };
};

const chooseSeen = ({ step, habit, view, tries }: ChoiceInput): Choice | undefined => {
  const listed = [...view.tools.keys()].find((name) => name.includes('__') && step.fits.test(name));
  if (listed !== undefined) return { kind: 'call', tool: listed, keys: view.tools.get(listed) };
  const found = view.found.filter(({ tool }) => step.fits.test(tool));
  const best = found.find(({ keys }) => keys) ?? found[0];
  if (!best) return undefined;
  const details = { server_name: best.server, tool_name: best.tool };
  const wasRead = tries.some(({ name }) => name === 'mcp_get_service_details');
  // Who is in a hurry guesses the arguments.
  if (habit === 'none' && !best.keys && !wasRead && view.tools.has('mcp_get_service_details'))
    return { kind: 'look', name: 'mcp_get_service_details', args: details };
  return { kind: 'call', tool: best.tool, server: best.server, keys: best.keys ?? toldKeys(tries, best.tool) };
};

/** What errors said that a tool takes. */
const toldKeys = (tries: readonly SeenCall[], tool: string): readonly string[] | undefined =>
  wantedIn(tries.findLast((made) => toolOf(made) === tool && wantedIn(made) !== undefined));

const wantedIn = (made: SeenCall | undefined): readonly string[] | undefined => {
  const [, wanted] = /Send (\{.*\})/.exec(made?.result ?? '') ?? [];
  return wanted === undefined ? undefined : keysIn(wanted);
};

/** The tool of a server that an error says to call, with its server. */
const calledIn = (text: string): { readonly server: string; readonly tool: string } | undefined => {
  const [, server, tool] = /Send \{"server_name": "([^"]+)", "tool_name": "([^"]+)"/.exec(text) ?? [];
  return server === undefined || tool === undefined ? undefined : { server, tool };
};

const chooseSearch = ({ step, view, tries }: ChoiceInput): Choice | undefined => {
  const canLook = (name: string): boolean => view.tools.has(name) && !tries.some((made) => made.name === name);
  if (canLook('mcp_find_tools')) return { kind: 'look', name: 'mcp_find_tools', args: { query: step.need } };
  return canLook('mcp_list_services') ? { kind: 'look', name: 'mcp_list_services', args: {} } : undefined;
};

const chooseByError = (input: ChoiceInput, last: SeenCall): Choice | undefined => {
  const { step, view, tries } = input;
  const { result } = last;
  if (/make the call again/i.test(result)) return chooseSeen(input) ?? sameAgain(last, view);
  const again = sameAgain(last, view);
  const [, meant] = /Did you mean ([\w-]+)/.exec(result) ?? [];
  if (meant !== undefined) return { kind: 'call', tool: meant, keys: view.tools.get(meant) };
  const wanted = wantedIn(last);
  if (wanted) return { ...again, ...calledIn(result), keys: wanted };
  const theirs = listAfter('Its tools', result).find((name) => step.fits.test(name));
  if (theirs !== undefined) return { ...again, tool: theirs };
  const tried = new Set(tries.map(({ args }) => args['server_name']));
  const servers = tries.flatMap((made) => listAfter('Registered servers', made.result));
  const server = servers.find((name) => !tried.has(name));
  if (server !== undefined) return { kind: 'call', tool: toolOf(last), server };
  // Only a tool that the text names, on the list or not: "list the tools" is nothing that a model could call.
  const named = lookups.find((name) => result.includes(name) && !tries.some((made) => made.name === name));
  if (named === undefined) return undefined;
  return named === 'mcp_find_tools' ? { kind: 'look', name: named, args: { query: step.need } } : chooseSearch(input);
};

const sameAgain = (last: SeenCall, view: ModelView): Extract<Choice, { kind: 'call' }> => {
  const { server_name: server } = last.args;
  const tool = toolOf(last);
  return last.name === invoke && typeof server === 'string'
    ? { kind: 'call', tool, server }
    : { kind: 'call', tool, keys: view.tools.get(tool) };
};

const listAfter = (mark: string, text: string): readonly string[] =>
  (new RegExp(`${mark}: ([^.]*)`).exec(text)?.[1] ?? '').split(', ').filter((name) => name !== '');
