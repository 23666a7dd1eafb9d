import { expect, it } from 'vitest';
import * as z from 'zod';
import type { Log } from '../kernel/log.ts';
import { silentLog } from '../kernel/log.ts';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import type { CallContext } from '../tool/context.ts';
import { defineTool } from '../tool/define-tool.ts';
import { createOpaqueIds } from '../tool/opaque-ids.ts';

const snowflake = z.string().regex(/^\d{17,20}$/);
const seen: unknown[] = [];
const read = (source?: string) =>
  defineTool({
    name: 'read_messages',
    description: 'Reads.',
    source,
    input: z.strictObject({
      message_id: snowflake,
      end_message_id: z.string().optional(),
      note: z.string().optional(),
    }),
    execute: (args) => {
      seen.push(args);
      return 'ok';
    },
  });
const ids = createOpaqueIds();
ids.issue('ref', '123456789012345678');
const model: CallContext = { caller: 'model', ids };

it('gives a tool what an id stands for, checked by its own strict schema, and beside it what the model wrote', async () => {
  const invoker = makeInvoker(registryOf(read()));
  seen.length = 0;
  await invoker.invoke({ name: 'read_messages', arguments: '{"message_id":"ref_1","note":"ref_1"}' }, model);
  expect(seen).toEqual([{ message_id: '123456789012345678', note: 'ref_1', __original_message_id: 'ref_1' }]);
});

it('gives the tool of a server its own arguments only', async () => {
  const invoker = makeInvoker(registryOf(read('mcp:chat')));
  seen.length = 0;
  await invoker.invoke({ name: 'read_messages', arguments: { message_id: 'ref_1' } }, model);
  expect(seen).toEqual([{ message_id: '123456789012345678' }]);
});

it.each([
  ['as an object', 'arguments', { media_id: 'media_1', message_id: 'ref_1', note: 'ref_1' }],
  ['as a text', 'arguments', '{"media_id":"media_1","message_id":"ref_1","note":"ref_1"}'],
  ['under another name', 'params', { media_id: 'media_1', message_id: 'ref_1', note: 'ref_1' }],
])('resolves what is passed on to another tool %s, and adds nothing to it', async (_how, key, args) => {
  const by = defineTool({
    name: 'mcp_invoke_tool',
    description: 'Calls.',
    source: 'mcp:management',
    input: z.looseObject({ tool_name: z.string() }),
    execute: (given) => {
      seen.push(given);
      return 'ok';
    },
  });
  seen.length = 0;
  await makeInvoker(registryOf(by)).invoke(
    { name: 'mcp_invoke_tool', arguments: { tool_name: 'read', [key]: args } },
    model,
  );
  expect(seen).toEqual([
    { tool_name: 'read', [key]: { media_id: 'media_1', message_id: '123456789012345678', note: 'ref_1' } },
  ]);
});

it('leaves an id that the turn did not issue as it is, with a warning, and the tool reports it', async () => {
  const warned: object[] = [];
  const log: Log = { ...silentLog, warn: (facts) => void warned.push(facts) };
  const invoker = makeInvoker(registryOf(read()), { log });
  seen.length = 0;
  const strict = await invoker.invoke({ name: 'read_messages', arguments: { message_id: 'ref_2' } }, model);
  expect(strict).toMatchObject({ status: 'failed', failure: { code: 'invalid_arguments' } });
  await invoker.invoke({ name: 'read_messages', arguments: { message_id: 'ref_1', end_message_id: 'media_1' } }, model);
  expect(seen).toMatchObject([{ message_id: '123456789012345678', end_message_id: 'media_1' }]);
  expect(warned).toMatchObject([
    { tool: 'read_messages', argument: 'message_id', id: 'ref_2' },
    { argument: 'end_message_id', id: 'media_1' },
  ]);
});

it('resolves nothing for who is in no turn', async () => {
  const invoker = makeInvoker(registryOf(read()));
  seen.length = 0;
  await invoker.invoke(
    { name: 'read_messages', arguments: { message_id: '123456789012345678', end_message_id: 'ref_1' } },
    { caller: 'operator' },
  );
  expect(seen).toEqual([{ message_id: '123456789012345678', end_message_id: 'ref_1' }]);
});
