import { encode } from 'gpt-tokenizer';
import type { CallContext, Gantry } from 'gantry';
import { outcomeText } from '../packages/gantry/src/tool/outcome-text.ts';
import type { JsonObject } from '../packages/gantry/src/kernel/json.ts';
import type { WrapperMode } from '../packages/gantry/src/tool/context.ts';
import { openTypedTools } from './lib/typed-tools-world.ts';
import { show, showSpread } from './lib/stats.ts';

const sizes = [48, 200, 1_000];
const modes: readonly WrapperMode[] = ['off', 'eager', 'lazy', 'pinned'];
const question = 'Which of the invoices of our largest customer are still open, and who approved the last one?';

/**
 * What the tools of servers cost in context, in tokens (o200k_base): the list of tools of the first request, and all requests of a turn that
 * calls one tool and then answers. Where the tool has to be found first, that is one request more, and what the search returns.
 */
export const benchContextCost = async (): Promise<string[]> => {
  const rows: string[] = [];
  const shares: string[] = [];
  for (const size of sizes) {
    await using gantry = await openTypedTools(size);
    const lists = new Map<WrapperMode, number>();
    for (const mode of modes) {
      // As a client of the gateway is served: a model's own list is cut at 120 tools.
      const context: CallContext = { caller: 'client', connection: mode, wrapperMode: mode };
      const first = listTokens(gantry, context);
      const { turn, requests } = await turnTokens(gantry, context, first);
      lists.set(mode, first);
      rows.push(`| ${size} | ${mode} | ${first} | ${requests} | ${turn} |`);
    }
    const share = (lists.get('pinned') as number) / (lists.get('eager') as number);
    shares.push(`First request in pinned against eager at ${size} tools: ${show(share * 100)} %`);
    shares.push(`Making the list of a turn at ${size} tools, eager: ${showSpread(await listTimes(gantry), 'ms')}`);
  }
  return [
    '| typed tools | mode | tokens of the list | requests | tokens of the turn |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    ...shares,
  ];
};

const tokensOf = (value: unknown): number => encode(JSON.stringify(value)).length;

const listTokens = (gantry: Gantry, context: CallContext): number =>
  tokensOf(
    gantry.toolset(context).tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  );

const turnTokens = async (
  gantry: Gantry,
  context: CallContext,
  first: number,
): Promise<{ readonly turn: number; readonly requests: number }> => {
  let messages = tokensOf(question);
  let turn = first + messages;
  let requests = 1;
  const ask = async (call: { readonly name: string; readonly arguments: JsonObject }): Promise<void> => {
    const outcome = await gantry.invoker.invoke(call, context);
    messages += tokensOf(call) + tokensOf(outcomeText(outcome));
    turn += listTokens(gantry, context) + messages;
    requests += 1;
  };
  const [server, tool, args] = ['server00', 'list_invoice', { id: '1', state: 'open' }];
  if (context.wrapperMode === 'off') {
    await ask({ name: 'mcp_get_service_details', arguments: { server_name: server } });
    await ask({ name: 'mcp_invoke_tool', arguments: { server_name: server, tool_name: tool, arguments: args } });
  } else {
    if (context.wrapperMode !== 'eager')
      await ask({ name: 'mcp_find_tools', arguments: { query: 'list open invoices of a customer', limit: 5 } });
    await ask({ name: `${server}__${tool}`, arguments: args });
  }
  return { turn, requests };
};

const listTimes = async (gantry: Gantry): Promise<number[]> => {
  const times: number[] = [];
  for (let round = 0; round < 50; round += 1) {
    const startedMs = performance.now();
    gantry.toolset({ caller: 'client', wrapperMode: 'eager' });
    if (round >= 20) times.push(performance.now() - startedMs);
  }
  return times;
};
