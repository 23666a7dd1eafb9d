import type { ProviderMetadata, ToolSet } from 'ai';
import { dynamicTool, jsonSchema } from 'ai';
import { unknownToolText } from '../../invoke/unknown-tool.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { providerToolName } from '../../schema/tool-name.ts';
import { parseArguments } from '../../text/parse-arguments.ts';
import type { CallContext } from '../../tool/context.ts';
import type { ToolCall } from '../../tool/executor.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import { adaptOnce, toDialect } from '../adapt-for-model.ts';
import type { LoopDeps, LoopRun } from './loop-run.ts';

/** A call as a model wrote it. */
export interface WrittenCall {
  readonly id: string;
  /** As the model wrote it. */
  readonly name: string;
  /** What was parsed, or the text that could not be. */
  readonly input: unknown;
  /** What the provider wants to see again beside the call, such as a signature of its thoughts. */
  readonly options?: ProviderMetadata | undefined;
}

/** The tools of one turn, in the form that the model's provider takes. */
export interface TurnTools {
  /** One object for the whole turn: tools that come or go during it are added to it and removed from it. */
  readonly set: ToolSet;
  /** What is listed now, in its order. */
  readonly listed: readonly ToolRegistration[];
  /** The tool of that name is on the list. */
  lists(name: string): boolean;
  /** Brings the list up to date with what the session found, opened and called since. */
  refresh(context: CallContext, maxTools: number | undefined): void;
  /** Adds a tool that the run may call, but that was not listed; false when there is none of that name. */
  admit(written: string): boolean;
  /** Takes a tool out of the turn, because it has put something before the model: it is listed no more, and refused. */
  retire(name: string): void;
  /** The names of those that were taken out of the turn. */
  readonly retired: ReadonlySet<string>;
  /**
   * Why a call of that name may not be made, by a run that was given only some tools, or of one that was taken out of the turn; undefined: the
   * call path decides.
   */
  refusal(name: string): string | undefined;
  /** The tool's own name for one that a model wrote. */
  nameOf(written: string): string;
  /** A name that providers take in a history, for one that a model wrote. */
  historyName(written: string): string;
  /** The call to make for what a model wrote. */
  toCall(written: WrittenCall): ToolCall;
}

const mostNamed = 40;
/** No name is longer, and one that a model goes on writing is not looked through. */
const mostNameChars = 256;
/** Sources that stay when a model takes few tools: without them the others could not be found or read. */
const first: ReadonlySet<string> = new Set(['guides', 'memory', 'mcp:management', 'skills']);

/** Makes the tools of a turn; empty until the first refresh. */
export const createTurnTools = (
  { toolsets }: Pick<LoopDeps, 'toolsets'>,
  { tools, scope = [], isLimited }: Pick<LoopRun, 'tools' | 'scope'> & { readonly isLimited: boolean },
): TurnTools => {
  const isWanted = tools ?? (() => true);
  const set: ToolSet = {};
  const byWrittenName = new Map<string, ToolRegistration>();
  const admitted = new Map<string, ToolRegistration>();
  const retired = new Map<string, ToolRegistration>();
  let listed: readonly ToolRegistration[] = [];
  let names: ReadonlySet<string> = new Set();
  let current: CallContext | undefined;
  let shown: readonly ToolRegistration[] | undefined;
  let shownTo: string | undefined;

  const writtenName = ({ name }: ToolRegistration): string =>
    providerToolName(name, toDialect(current?.model?.provider));
  const put = (registration: ToolRegistration): void => {
    const { description, inputSchema, strict } = adaptOnce(registration, toDialect(current?.model?.provider));
    const name = writtenName(registration);
    byWrittenName.set(name, registration);
    // No `execute`: the loop runs calls itself when the answer is complete, so that none runs that was cut off.
    set[name] = dynamicTool({ description, inputSchema: jsonSchema(inputSchema), strict });
  };

  const cleaned = (written: string): string =>
    written
      .slice(0, mostNameChars)
      .replace(/^functions[.:]/, '')
      .replaceAll(/^[\s<"'`]+|[\s>"'`]+$/g, '');

  const registrationOf = (written: string): ToolRegistration | undefined => {
    const known = byWrittenName.get(written) ?? byWrittenName.get(cleaned(written));
    if (known || !current) return known;
    const found = toolsets.find(written, current) ?? toolsets.find(cleaned(written), current);
    return found && isWanted(found.registration) ? found.registration : undefined;
  };

  return {
    set,
    get listed() {
      return listed;
    },
    lists: (name) => names.has(name),
    refresh: (context, maxTools) => {
      current = context;
      const offered = takesTools(context) ? toolsets.for(context).tools.filter(isWanted) : [];
      const given = takesTools(context)
        ? scope.flatMap((name) => toolsets.find(name, context)?.registration ?? []).filter(isWanted)
        : [];
      const unlisted = given.filter(({ name }) => !offered.some((tool) => tool.name === name));
      const mayShow = [...offered, ...unlisted].filter(({ name }) => !retired.has(name));
      const most = withinLimit(mayShow, maxTools);
      const all = [...most, ...[...admitted.values()].filter(({ name }) => !most.some((tool) => tool.name === name))];
      const provider = context.model?.provider;
      const isSame =
        shownTo === provider && all.length === shown?.length && all.every((tool, at) => tool === shown?.[at]);
      if (isSame) return;
      shown = all;
      shownTo = provider;
      listed = all;
      names = new Set(all.map(({ name }) => name));
      byWrittenName.clear();
      // Emptied and filled again, so that its order does not depend on when a tool came.
      for (const name of Object.keys(set)) delete set[name];
      for (const registration of all) put(registration);
      // What a model calls all the same is told by its own name.
      for (const registration of retired.values()) byWrittenName.set(writtenName(registration), registration);
    },
    admit: (written) => {
      const registration = registrationOf(written);
      if (!registration || !current || !takesTools(current) || retired.has(registration.name)) return false;
      admitted.set(registration.name, registration);
      if (!names.has(registration.name)) put(registration);
      return true;
    },
    retire: (name) => {
      const registration = registrationOf(name);
      if (!registration) return;
      retired.set(registration.name, registration);
      admitted.delete(registration.name);
    },
    get retired() {
      return new Set(retired.keys());
    },
    refusal: (name) => {
      if (retired.has(name)) return retiredText(name);
      if (!isLimited || !current) return undefined;
      const found = toolsets.find(name, current);
      // The call path would suggest what the run was not given.
      if (!found) return unknownToolText({ name, callable: names });
      if (isWanted(found.registration)) return undefined;
      return `This run may not call "${name}". It may call what is in your list${names.size > mostNamed ? '' : `: ${[...names].join(', ')}`}.`;
    },
    nameOf: (written) => registrationOf(written)?.name ?? cleaned(written),
    historyName: (written) => {
      const dialect = toDialect(current?.model?.provider);
      return providerToolName(registrationOf(written)?.name ?? (cleaned(written) || 'unnamed'), dialect);
    },
    toCall: ({ id, name, input }) => {
      const registration = registrationOf(name);
      const toolName = registration?.name ?? cleaned(name);
      const parsed = parseArguments(input);
      // What cannot be read goes to the call path as it is, which says what is wrong with it.
      if (!parsed.ok)
        return { id, name: toolName, arguments: typeof input === 'string' ? input : JSON.stringify(input) };
      const restored: JsonObject = registration
        ? adaptOnce(registration, toDialect(current?.model?.provider)).restore(parsed.value)
        : parsed.value;
      return { id, name: toolName, arguments: restored };
    },
  };
};

const retiredText = (name: string): string =>
  `"${name}" has put something before you in this turn, and does so once in a turn. Work with what you were shown, and do not call it again in this turn.`;

const takesTools = ({ model }: CallContext): boolean => model?.capabilities?.['has_tools'] !== false;

/** The list cut to what a model takes: what others are found and read with stays, then the order decides. */
const withinLimit = (tools: readonly ToolRegistration[], maxTools: number | undefined): readonly ToolRegistration[] => {
  if (maxTools === undefined || tools.length <= maxTools) return tools;
  const kept = new Set(
    [...tools.filter(({ source }) => first.has(source)), ...tools.filter(({ source }) => !first.has(source))].slice(
      0,
      maxTools,
    ),
  );
  return tools.filter((tool) => kept.has(tool));
};
