import { describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { silentLog } from '../../kernel/log.ts';
import type { CallContext } from '../../tool/context.ts';
import type { ToolDefinition, ToolRegistration } from '../../tool/registration.ts';
import { toRegistration } from '../../tool/registration.ts';
import type { ActionGate } from './action-gate.ts';
import { closedGate, createActionGate, sharesOnlyFlag } from './action-gate.ts';

const context: CallContext = { caller: 'model', namespace: 'session/1', features: new Set(['other']) };
const tool = (name: string, more: Partial<ToolDefinition> = {}): ToolRegistration =>
  toRegistration({ name, description: 'd', source: 'local', ...more });
const write = tool('mail__send', { source: 'mcp:mail', target: { server: 'mail', tool: 'send' } });
const read = tool('mail__list', {
  source: 'mcp:mail',
  target: { server: 'mail', tool: 'list' },
  annotations: { readOnlyHint: true },
});
const handOver = tool('spawn_subagent', { source: 'subagent' });

let prompts: string[];
const gate = (said: string | Error, asked = 'My flight was moved to Friday.'): ActionGate => {
  prompts = [];
  return createActionGate({
    complete: async ({ prompt, tier }) => {
      prompts.push(`${tier}: ${prompt}`);
      if (said instanceof Error) throw said;
      return said;
    },
    asked,
    before: 'Shall I send it?',
    namespace: 'session/1',
    signal: new AbortController().signal,
    log: silentLog,
  });
};

describe('a turn that only shares information', () => {
  it.each([
    write,
    tool('mcp_invoke_tool', { source: 'mcp:management' }),
    tool('schedule_task', { source: 'scheduling' }),
    tool('spawn_wisps', { source: 'wisp' }),
    tool('spawn_workers', { source: 'worker' }),
  ])('does not run $name', async (registration) => {
    expect(await gate('SHARE').admit(registration, context)).toEqual({
      refusal: expect.stringMatching(/^Not run: .*asked for nothing.* ask first/),
    });
  });

  it.each([read, tool('save_to_working_memory', { source: 'memory' }), tool('file_write', { source: 'files' })])(
    'runs $name, without asking',
    async (registration) => {
      expect(await gate('SHARE').admit(registration, context)).toEqual({ context });
      expect(prompts).toEqual([]);
    },
  );

  it('may hand work over, which may not write either', async () => {
    const handed = await gate('SHARE').admit(handOver, context);
    const features = 'context' in handed ? handed.context.features : undefined;
    expect([...(features ?? [])]).toEqual(['other', sharesOnlyFlag]);
    expect(await closedGate.admit(write, context)).toHaveProperty('refusal');
    expect(await closedGate.admit(read, context)).toHaveProperty('context');
    const further = await closedGate.admit(handOver, context);
    expect('context' in further && further.context.features?.has(sharesOnlyFlag)).toBe(true);
  });

  it('is recognised by one question to the low model, with what was said before', async () => {
    const one = gate('SHARE');
    await Promise.all([one.admit(write, context), one.admit(write, context), one.admit(handOver, context)]);
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toMatch(/^low: [^]*Shall I send it\?[^]*My flight was moved to Friday\./);
  });
});

it.each(['ACT', 'act: send it', 'I would say SHARE', '', new GantryError('model_failed', 'down')])(
  'runs what a user may have asked for, when the small model says %s',
  async (said) => {
    expect(await gate(said).admit(write, context)).toEqual({ context });
    expect(await gate(said).admit(handOver, context)).toEqual({ context });
  },
);

it('leaves a call of an unknown tool to the call path', async () => {
  expect(await gate('SHARE').admit(undefined, context)).toEqual({ context });
  expect(await closedGate.admit(undefined, context)).toEqual({ context });
});
