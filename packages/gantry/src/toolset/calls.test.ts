import { describe, expect, it } from 'vitest';
import type { Invoker } from '../invoke/invoker.ts';
import { silentLog } from '../kernel/log.ts';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import type { CallContext } from '../tool/context.ts';
import type { Tool } from '../tool/executor.ts';
import { defineTool } from '../tool/define-tool.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { ToolDefinition } from '../tool/registration.ts';
import type { ToolRegistry } from '../tool/registry.ts';
import { createToolsets } from './toolset.ts';

type Needs = Pick<ToolDefinition, 'requires' | 'aliases'>;

let ran: string[] = [];
const toolOf = (name: string, more: Needs = {}): Tool =>
  defineTool({
    name,
    description: 'd',
    ...more,
    execute: () => {
      ran.push(name);
      return `ran ${name}`;
    },
  });
const callsOf = (registry: ToolRegistry): Invoker => {
  ran = [];
  const toolsets = createToolsets({ registry, log: silentLog });
  return makeInvoker(registry, {
    lookUp: toolsets.find,
    callableNames: toolsets.names,
    explainMissing: toolsets.missing,
  });
};
const say = async (invoker: Invoker, name: string, more: Partial<CallContext> = {}): Promise<string> =>
  outcomeText(await invoker.invoke({ name }, { caller: 'model', ...more }));

describe('a call in a turn', () => {
  it('that is misspelt is told the nearest tool that the turn may run, and never one that a flag keeps from it', async () => {
    const invoker = callsOf(
      registryOf(toolOf('send_mail', { requires: { featureFlag: 'mail' } }), toolOf('send_male'), toolOf('web_read')),
    );
    const text = await say(invoker, 'send_mial');
    expect(text).toContain('send_male');
    expect(text).not.toContain('send_mail');
    expect(await say(invoker, 'send_mial', { features: new Set(['mail']) })).toContain('send_mail');
  });

  it.each<[string, Needs, Partial<CallContext>, Partial<CallContext>]>([
    ['a flag', { requires: { featureFlag: 'mail' } }, { features: new Set(['mail']) }, { features: new Set() }],
    [
      'a permission',
      { requires: { permissions: ['SEND_MESSAGES'] } },
      { permissions: { granted: ['SEND_MESSAGES'], isThread: false } },
      { permissions: { granted: ['SEND_MESSAGES'], isThread: true } },
    ],
    [
      'a capability of the model',
      { requires: { modelCapabilities: { sees_images: false } } },
      { model: { provider: 'x' } },
      { model: { provider: 'x', capabilities: { sees_images: true } } },
    ],
    [
      'the provider',
      { requires: { providers: { deny: ['novelai'] } } },
      { model: { provider: 'openai' } },
      { model: { provider: 'NovelAI' } },
    ],
  ])(
    'runs a tool while it may, and refuses it when %s has changed since it was shown',
    async (_, more, before, after) => {
      const invoker = callsOf(registryOf(toolOf('t', more)));
      expect(await say(invoker, 't', before)).toBe('ran t');
      expect(await say(invoker, 't', after)).toMatch(
        /not (?:available in this turn|supported with the model provider)/,
      );
      expect(ran).toEqual(['t']);
    },
  );

  it('by an earlier name runs the tool under its own', async () => {
    const invoker = callsOf(registryOf(toolOf('save_memory', { aliases: ['remember_this'] })));
    expect(await say(invoker, 'remember_this')).toBe('ran save_memory');
  });

  it('whose tool throws is an answer, and nothing else', async () => {
    const broken = defineTool({
      name: 'broken',
      description: 'd',
      execute: () => {
        throw new Error('boom');
      },
    });
    expect(await say(callsOf(registryOf(broken)), 'broken')).toContain('boom');
  });
});
