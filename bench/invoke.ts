import { dynamicTool, generateText, jsonSchema, stepCountIs } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import * as z from 'zod';
import { createGantry, defineTool, silentLog } from 'gantry';
import type { Gantry } from 'gantry';
import { show, showSpread, spreadOf } from './lib/stats.ts';

/**
 * `invoke` of a no-op tool beside the AI SDK's execution of the same tool with the same validation, at 10 and at 10,000
 * registered tools. The SDK has no call for one tool outside a generation, so what is measured there is a generation with a
 * scripted model that asks for `calls` tool calls, less the same generation asking for none.
 */
export const benchInvoke = async (): Promise<string[]> => {
  const sizes = [10, 10_000];
  const gantries = await Promise.all(sizes.map(gantryOf));
  const samples = sizes.map(() => ({ gantryUs: [] as number[], sdkUs: [] as number[] }));
  // Sizes and contestants take turns, so that a drift of the machine or a warmer compiler favours nobody.
  for (let round = 0; round < 10; round += 1)
    for (const [index, size] of sizes.entries()) {
      const gantryUs = await measureGantry(gantries[index] as Gantry);
      const sdkUs = await measureAiSdk(size);
      if (round < 3) continue;
      samples[index]?.gantryUs.push(gantryUs);
      samples[index]?.sdkUs.push(sdkUs);
    }
  await Promise.all(gantries.map((gantry) => gantry[Symbol.asyncDispose]()));
  const rows = samples.map(({ gantryUs, sdkUs }, index) => {
    const ratio = spreadOf(gantryUs).median / spreadOf(sdkUs).median;
    return `| ${sizes[index]} | ${showSpread(gantryUs, 'µs')} | ${showSpread(sdkUs, 'µs')} | ${show(ratio)} |`;
  });
  const [few, many] = samples.map(({ gantryUs }) => spreadOf(gantryUs).median) as [number, number];
  return [
    '| registered tools | Gantry, a call | AI SDK, a call | ratio |',
    '|---|---|---|---|',
    ...rows,
    '',
    `10,000 registered tools against 10: ${show(many / few)}`,
  ];
};

const calls = 2000;
const input = z.strictObject({ query: z.string(), limit: z.number().int().optional() });
const args = { query: 'x', limit: 3 };

const gantryOf = async (registered: number): Promise<Gantry> => {
  const gantry = await createGantry({ dataDir: ':memory:', log: silentLog }).start();
  for (let index = 0; index < registered; index += 1) {
    const tool = defineTool({ name: `tool_${index}`, description: 'Does nothing.', input, execute: () => 'ok' });
    gantry.tools.register(tool.registration, tool.executor);
  }
  return gantry;
};

const measureGantry = async (gantry: Gantry): Promise<number> => {
  const startedMs = performance.now();
  for (let index = 0; index < calls; index += 1)
    await gantry.call('tool_5', args, { caller: 'model', namespace: 'session/1' });
  return ((performance.now() - startedMs) * 1000) / calls;
};

const measureAiSdk = async (registered: number): Promise<number> => {
  const schema = z.toJSONSchema(input) as Record<string, unknown>;
  const validate = (value: unknown) => {
    const parsed = input.safeParse(value);
    return parsed.success
      ? { success: true as const, value: parsed.data }
      : { success: false as const, error: parsed.error };
  };
  const tools = Object.fromEntries(
    Array.from({ length: registered }, (_, index) => [
      `tool_${index}`,
      dynamicTool({
        description: 'Does nothing.',
        inputSchema: jsonSchema(schema, { validate }),
        execute: async () => 'ok',
      }),
    ]),
  );
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const generate = async (toolCalls: number): Promise<number> => {
    let step = 0;
    const model = new MockLanguageModelV4({
      doGenerate: async () => {
        step += 1;
        const content =
          step === 1 && toolCalls > 0
            ? Array.from({ length: toolCalls }, (_, index) => ({
                type: 'tool-call' as const,
                toolCallId: `c${index}`,
                toolName: 'tool_5',
                input: JSON.stringify(args),
              }))
            : [{ type: 'text' as const, text: 'done' }];
        const unified = step === 1 && toolCalls > 0 ? ('tool-calls' as const) : ('stop' as const);
        return { content, finishReason: { unified, raw: unified }, usage, warnings: [] } as never;
      },
    });
    const startedMs = performance.now();
    await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(2) });
    return performance.now() - startedMs;
  };
  const withCalls = await generate(calls);
  const without = await generate(0);
  return ((withCalls - without) * 1000) / calls;
};
