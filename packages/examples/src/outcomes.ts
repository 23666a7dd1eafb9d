/** What a tool may give back, and what it is told about its call. */
import assert from 'node:assert/strict';
import { createGantry, defineTool, failedOutcome, outcomeText } from 'gantry';
import * as z from 'zod';

const orders = new Map([
  [15, { id: 15, total: 20 }],
  [16, { id: 16, total: 35 }],
]);

// #region structured
const findOrder = defineTool({
  name: 'find_order',
  description: 'Finds an order by its number.',
  annotations: { readOnlyHint: true },
  input: z.strictObject({ id: z.int().describe('Number of the order.') }),
  output: z.object({ id: z.int(), total: z.number() }),
  execute: ({ id }) =>
    orders.get(id) ??
    failedOutcome('execution_failed', `There is no order ${id}. Known orders: ${[...orders.keys()].join(', ')}.`),
});
// #endregion

// #region context
const countTo = defineTool({
  name: 'count_to',
  description: 'Counts, and says how far it is.',
  timeoutMs: 30_000,
  input: z.strictObject({ last: z.int().max(1000) }),
  execute: ({ last }, { signal, onProgress }) => {
    for (let progress = 1; progress <= last; progress += 1) {
      signal?.throwIfAborted();
      onProgress?.({ progress, total: last });
    }
    return `Counted to ${last}.`;
  },
});
// #endregion

const reactions: string[] = [];
const addReaction = async (emoji: string): Promise<void> => void reactions.push(emoji);

// #region end
const react = defineTool({
  name: 'react',
  description: 'Answers with an emoji under the message.',
  input: z.strictObject({ emoji: z.string() }),
  execute: async ({ emoji }) => {
    await addReaction(emoji);
    return { status: 'done', parts: [{ type: 'text', text: emoji }], endTurn: true };
  },
});
// #endregion

const drawChart = async (_month: string): Promise<Uint8Array> => Buffer.from('89504e470d0a1a0a', 'hex');

// #region show
const showChart = defineTool({
  name: 'show_chart',
  description: 'Shows you the sales of a month as a chart.',
  requires: { modelCapabilities: { sees_images: true } },
  available: ({ takesContextItems }) => takesContextItems === true,
  input: z.strictObject({ month: z.string() }),
  execute: async ({ month }) => {
    const chart = gantry.media.put(await drawChart(month), 'image/png');
    return {
      status: 'done',
      parts: [{ type: 'text', text: `The chart of ${month} is shown.` }],
      contextItem: { text: `Sales of ${month}.`, media: [chart] },
    };
  },
});
// #endregion

await using gantry = await createGantry({ dataDir: ':memory:' }).start();
for (const { registration, executor } of [findOrder, countTo, react, showChart])
  gantry.tools.register(registration, executor);

// #region use
const found = await gantry.call('find_order', { id: 15 });
if (found.status === 'done') console.log(found.structured); // { id: 15, total: 20 }

const missing = await gantry.call('find_order', { id: 17 });
console.log(outcomeText(missing)); // There is no order 17. Known orders: 15, 16.

const steps: number[] = [];
await gantry.call('count_to', { last: 3 }, { onProgress: ({ progress }) => steps.push(progress) });
console.log(steps); // [ 1, 2, 3 ]
// #endregion

assert.deepEqual(found.status === 'done' && found.structured, { id: 15, total: 20 });
assert.equal(outcomeText(missing), 'There is no order 17. Known orders: 15, 16.');
assert.deepEqual(steps, [1, 2, 3]);
assert.equal(outcomeText(await gantry.call('react', { emoji: '👍' })), '👍');
assert.deepEqual(reactions, ['👍']);

const chart = await gantry.call(
  'show_chart',
  { month: 'May' },
  { takesContextItems: true, model: { provider: 'openai', capabilities: { sees_images: true } } },
);
assert.equal(chart.status === 'done' && chart.contextItem?.text, 'Sales of May.');
