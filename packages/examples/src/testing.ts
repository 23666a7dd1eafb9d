/** Testing a tool without a model, a network or a wait. */
import assert from 'node:assert/strict';
// #region test
import { defineTool, outcomeText } from 'gantry';
import { makeInvoker, registryOf } from 'gantry/testing';
import * as z from 'zod';

const shout = defineTool({
  name: 'shout',
  description: 'Says it loudly.',
  input: z.strictObject({ text: z.string() }),
  execute: ({ text }) => text.toUpperCase(),
});

const invoker = makeInvoker(registryOf(shout));
const outcome = await invoker.invoke({ name: 'shout', arguments: '{"text": "hello"}' }, { caller: 'model' });
assert.equal(outcomeText(outcome), 'HELLO');

const misspelt = await invoker.invoke({ name: 'shout', arguments: { txt: 'hello' } }, { caller: 'model' });
assert.match(outcomeText(misspelt), /"txt".*"text"/s);
// #endregion
