/** Gantry inside a program: define a tool, start, call it. */
import assert from 'node:assert/strict';
// #region tool
import { createGantry, defineTool, outcomeText } from 'gantry';
import * as z from 'zod';

const addNumbers = defineTool({
  name: 'add_numbers',
  description: 'Adds two numbers.',
  input: z.strictObject({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => `${a + b}`,
});
// #endregion

// #region call
await using gantry = await createGantry({ dataDir: ':memory:' }).start();
gantry.tools.register(addNumbers.registration, addNumbers.executor);

// What a model writes is repaired where that is safe: here a number that came as text.
const sum = await gantry.call('add_numbers', '{"a": 2, "b": "3"}', { caller: 'model' });
console.log(outcomeText(sum)); // 5

// A failure is an outcome, not an exception, and its text tells the model what to do.
const failed = await gantry.call('add_numbers', { a: 2 });
if (failed.status === 'failed') console.log(failed.failure.code, '-', failed.failure.message);
// #endregion

assert.equal(outcomeText(sum), '5');
assert.equal(failed.status === 'failed' && failed.failure.code, 'invalid_arguments');
