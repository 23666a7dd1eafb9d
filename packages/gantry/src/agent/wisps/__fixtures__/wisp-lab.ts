import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GantryError } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { silentLog } from '../../../kernel/log.ts';
import type { MemoryRecord, WorkingMemory } from '../../../memory/working-memory.ts';
import { createWorkingMemory } from '../../../memory/working-memory.ts';
import { openSqliteStore } from '../../../store/sqlite/open-sqlite-store.ts';
import type { FakeClock } from '../../../testing/fake-clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { testKeyring } from '../../../testing/test-keyring.ts';
import type { CallableTools } from '../../../tool/callable-tools.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Tool } from '../../../tool/executor.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome, textOutcome } from '../../../tool/outcome.ts';
import { outcomeText } from '../../../tool/outcome-text.ts';
import { toRegistration } from '../../../tool/registration.ts';
import { createVolume } from '../../../volume/volume.ts';
import type { LoopResult, LoopRun } from '../../loop/loop-run.ts';
import { createWispLog } from '../wisp-log.ts';
import { wispTool } from '../wisp-tool.ts';
import { createWisps } from '../wisps.ts';

export const minuteMs: number = 60_000;

/** Pipelines over a memory and a folder of their own, whose tools and model answer as they are told. */
export interface WispLab extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly memory: WorkingMemory;
  /** Holds `shared` and `data`. */
  readonly folder: string;
  readonly tool: Tool;
  /** What there is to call. */
  tools: Tool[];
  /** Who may call what; default everybody all. */
  callable: Pick<CallableTools, 'find' | 'for'>;
  /** What was called. */
  readonly calls: { readonly name: string; readonly args: JsonObject; readonly context: CallContext }[];
  /** What the loop was to do. */
  readonly runs: LoopRun[];
  /** What the small model was asked to correct. */
  readonly corrections: string[];
  /** What a call gives; default its arguments. */
  invoke: (name: string, args: JsonObject, signal: AbortSignal) => Promise<Outcome>;
  /** What the model of a step says. */
  think: (run: LoopRun) => Promise<Partial<LoopResult> & { readonly text: string }>;
  correct: () => Promise<string>;
  /** Runs pipelines for session `s1` and gives the report. */
  run(definitions: unknown, more?: Partial<CallContext>): Promise<string>;
  /** From now on calls fail whose argument `at` is this. */
  fails(at: string, text?: string): void;
}

/** A tool of a server. */
export const typed = (server: string, name: string, inputSchema: JsonObject = { type: 'object' }): Tool => ({
  registration: toRegistration({
    name: `${server}__${name}`,
    description: 'd',
    source: `mcp:${server}`,
    target: { server, tool: name },
    inputSchema,
  }),
  executor: { execute: async () => textOutcome('') },
});
const plain = (name: string): Tool => ({
  registration: toRegistration({ name, description: 'd', source: 'x' }),
  executor: { execute: async () => textOutcome('') },
});

/** A step that calls a server's tool. */
export const mcp = (id: string, params: unknown = {}, more: object = {}): object => ({
  id,
  mode: 'Direct',
  gateway: 'Mcp',
  tool: 'notes__add',
  params,
  ...more,
});
/** A step of a model. */
export const llm = (id: string, prompt = 'Sum up.', more: object = {}): object => ({
  id,
  mode: 'Llm',
  prompt,
  ...more,
});
/** A pipeline of these steps. */
export const wisp = (...steps: object[]): object => ({ description: 'test', steps });
/** What a run of the loop was asked. */
export const said = ({ messages }: LoopRun): string => {
  const content = messages.at(-1)?.content;
  return typeof content === 'string' ? content : '';
};
/** Id of the first pipeline in a report. */
export const wispIdIn = (report: string): string => /wisp-[0-9a-f]{11}/.exec(report)?.[0] ?? '';

/** Opens a lab with two tools of the server `notes`. */
export const openWispLab = async (): Promise<WispLab> => {
  const clock = fakeClock();
  const store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  const memory = createWorkingMemory({ keyValue: store.keyValue<MemoryRecord>('memory'), clock, log: silentLog });
  const folder = mkdtempSync(join(tmpdir(), 'gantry-wisps-'));
  const tool = wispTool(
    createWisps({
      callable: {
        find: (name, context) => lab.callable.find(name, context),
        for: (context) => lab.callable.for(context),
      },
      invoker: {
        invoke: async ({ name, arguments: args }, context) => {
          lab.calls.push({ name, args: args as JsonObject, context });
          return lab.invoke(name, args as JsonObject, context.signal!);
        },
      },
      toolsOf: (server) => lab.tools.filter(({ registration }) => registration.target?.server === server.toLowerCase()),
      providers: [({ field }) => (field === 'timezone' ? 'Europe/Oslo' : undefined)],
      model: {
        complete: async ({ prompt }) => {
          lab.corrections.push(prompt);
          return lab.correct();
        },
      },
      runLoop: async (run) => {
        lab.runs.push(run);
        return {
          steps: [],
          endedBy: 'answer',
          tier: 'low',
          model: 'm',
          usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
          ...(await lab.think(run)),
        };
      },
      memory,
      volume: createVolume(join(folder, 'shared')),
      clock,
      newId,
      log: silentLog,
      wispLog: createWispLog({ path: join(folder, 'data', 'wisps.jsonl'), clock, log: silentLog }),
      maxConcurrent: 10,
    }),
  );
  const lab: WispLab = {
    clock,
    memory,
    folder,
    tool,
    callable: {
      find: (name) => lab.tools.find(({ registration }) => registration.name === name),
      for: () => ({ tools: lab.tools.map(({ registration }) => registration) }),
    },
    tools: [typed('notes', 'add'), typed('notes', 'list'), plain('mcp_invoke_tool'), plain('analyze_file')],
    calls: [],
    runs: [],
    corrections: [],
    invoke: async (_name, args) => textOutcome(JSON.stringify(args)),
    think: async () => ({ text: 'thought' }),
    correct: async () => Promise.reject(new GantryError('model_missing', 'none')),
    run: async (definitions, more = {}) => {
      const { registration, executor } = tool;
      return outcomeText(
        await executor.execute(
          { id: 'c', name: 'spawn_wisps', arguments: { definitions } as JsonObject, registration },
          { caller: 'model', namespace: 'session/s1', ...more },
        ),
      );
    },
    fails: (at, text = 'The disk is full') => {
      lab.invoke = async (_name, args) =>
        args['at'] === at ? failedOutcome('execution_failed', text) : textOutcome(JSON.stringify(args));
    },
    [Symbol.asyncDispose]: async () => {
      await memory[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return lab;
};
