import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { WrapperMode } from '../../packages/gantry/src/tool/context.ts';
import { makeGantryFolder } from '../../test/fixtures/gantry-process.ts';

/** A model behind an OpenAI-compatible endpoint. */
export interface ModelAt {
  readonly endpoint: string;
  readonly modelId: string;
  readonly apiKey?: string | undefined;
}

/** How a turn of the agent ended. */
export interface RanTurn {
  readonly reply: string;
  readonly calls: number;
  readonly failedCalls: number;
  /** Of all requests of the turn, as the model counted them. */
  readonly inputTokens: number;
}

/** A gateway with its agent and three public MCP servers as programs. Disposing stops all of it. */
export interface AgentWorld extends AsyncDisposable {
  readonly folder: string;
  readonly memoryFile: string;
  /** A turn in a conversation of its own. A turn that fails is one without an answer. */
  ask(sessionId: string, text: string): Promise<RanTurn>;
}

const program = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));
const replySchema = z.object({
  reply: z.string(),
  toolCalls: z.array(z.object({ isError: z.boolean() })),
  usage: z.object({ inputTokens: z.number() }),
});

/** Starts it with one mode for the tools of servers and the given content of the memory server. */
export const startAgentWorld = async (mode: WrapperMode, model: ModelAt, remembered: string): Promise<AgentWorld> => {
  await using stack = new AsyncDisposableStack();
  const gantry = makeGantryFolder();
  stack.defer(() => gantry[Symbol.dispose]());
  const folder = join(gantry.path, 'work');
  const memoryFile = join(gantry.path, 'memory.jsonl');
  mkdirSync(folder);
  writeFileSync(memoryFile, remembered);
  const node = process.execPath;
  gantry.write('mcp.json', {
    mcpServers: {
      disk: { command: node, args: [program('filesystem'), folder] },
      notes: { command: node, args: [program('memory')], env: { MEMORY_FILE_PATH: memoryFile } },
      demo: { command: node, args: [program('everything')] },
    },
  });
  const { apiKey, ...at } = model;
  gantry.write('gantry.config.json', {
    mcp: { stdio: 'launch', wrapperMode: mode },
    models: { balanced: at },
  });
  const gateway = stack.use(
    await gantry.serve(['--port', '0'], apiKey === undefined ? {} : { GANTRY_MODELS__BALANCED__APIKEY: apiKey }),
  );
  await fetch(`${gateway.url}/api/v1/servers/refresh`, { method: 'POST', body: '{}' });
  const running = stack.move();
  return {
    folder,
    memoryFile,
    ask: async (sessionId, message) => {
      const response = await fetch(`${gateway.url}/api/v1/sessions/${sessionId}/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ message }),
      });
      const parsed = replySchema.safeParse(await response.json());
      if (!parsed.success) return { reply: '', calls: 0, failedCalls: 0, inputTokens: 0 };
      const { reply, toolCalls, usage } = parsed.data;
      const failedCalls = toolCalls.filter(({ isError }) => isError).length;
      return { reply, calls: toolCalls.length, failedCalls, inputTokens: usage.inputTokens };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};
