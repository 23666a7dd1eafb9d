import { describe, expect, it } from 'vitest';
import { typedToolName } from '../../schema/tool-name.ts';
import type { ToolDefinition } from '../../tool/registration.ts';
import { toRegistration } from '../../tool/registration.ts';
import { exposureOf } from '../exposure.ts';
import type { ClientRules } from './client-rules.ts';
import { compileRules, knowsServers, withRules } from './client-rules.ts';

const sees = (
  rules: ClientRules,
  client: string,
  tool: Partial<ToolDefinition> & { name: string },
  expose: string[] = [],
) =>
  withRules(exposureOf(expose), compileRules(rules))(toRegistration({ description: 'd', source: 'mcp:s', ...tool }), {
    caller: 'client',
    client,
  });

describe('a rule with servers', () => {
  const rules = { bob: { servers: ['other'] } };

  it.each([
    ['a tool', { name: 's__a', target: { server: 's', tool: 'a' } }, false],
    ['a prompt', { name: 's__plan-prompt', promptOf: { server: 's', prompt: 'plan' } }, false],
    ['a prompt of one that it names', { name: 'other__p-prompt', promptOf: { server: 'Other', prompt: 'p' } }, true],
  ])('decides on %s', (_what, tool, expected) => expect(sees(rules, 'bob', tool)).toBe(expected));

  it('decides which servers its client may know of, and nobody else', () => {
    const knows = knowsServers(compileRules(rules));
    expect(knows({ caller: 'client', client: 'bob' }, 's')).toBe(false);
    expect(knows({ caller: 'client', client: 'bob' }, 'OTHER')).toBe(true);
    expect(knows({ caller: 'model', client: 'bob' }, 's')).toBe(true);
    expect(knows({ caller: 'client', client: 'ann' }, 's')).toBe(true);
  });
});

describe('a rule with tools', () => {
  it.each([
    ['the name itself', 's__a', true],
    ['a pattern', 's__*', true],
    ['the name in another case', 's__A', false],
    ['a pattern in another case', 'S__*', false],
  ])('has a tool by %s: %s', (_how, pattern, expected) =>
    expect(sees({ bob: { tools: [pattern] } }, 'bob', { name: 's__a', target: { server: 's', tool: 'a' } })).toBe(
      expected,
    ),
  );

  const long = 'customer-relationship-management-of-the-whole-of-western-europe';
  it.each([
    ['wiki', ['wiki__search'], true],
    ['Wiki', ['wiki__*'], true],
    ['wiki', ['*'], true],
    ['wiki', ['*search'], true],
    ['wiki', ['w*__search'], true],
    ['wiki', ['wik*'], true],
    ['my.wiki', ['my-wiki__*'], true],
    [long, [typedToolName(long, 'search')], true],
    ['wiki', ['mail__*', 'mcp_*'], false],
    ['wiki', ['wiki'], false],
    ['wiki', ['wiki2__*'], false],
    ['wiki', ['wiki_*x__'], true],
    ['wiki', [], false],
  ] satisfies [string, string[], boolean][])('has the server %s with %j: %s', (server, tools, expected) => {
    const rules = compileRules({ bob: { tools } });
    expect(rules.allowsServer('bob', server)).toBe(expected);
    expect(knowsServers(rules)({ caller: 'client', client: 'bob' }, server)).toBe(expected);
    expect(rules.allowsServer('ann', server)).toBe(true);
  });
});

describe('changing the servers of everybody', () => {
  const register = { name: 'mcp_register_server', source: 'mcp:management' };

  it.each([
    ['nobody, unless somebody names it', {}, [], false],
    ['everybody where serve.expose names it', {}, ['mcp_register_server'], true],
    ['a client whose rule names it', { bob: { tools: ['s__*', 'mcp_register_server'] } }, [], true],
    ['not one whose rule has a pattern', { bob: { tools: ['mcp_*', '*'] } }, [], false],
    ['not one with other tools', { bob: { tools: ['s__*'] } }, ['mcp_register_server'], false],
    ['not one with servers', { bob: { servers: ['s'] } }, ['*'], false],
    ['not one with servers that names it', { bob: { servers: ['s'], tools: ['mcp_register_server'] } }, [], false],
  ] satisfies [string, ClientRules, string[], boolean][])('is for %s', (_who, rules, expose, expected) =>
    expect(sees(rules, 'bob', register, expose)).toBe(expected),
  );
});

it('leaves every client the tool by which it reads its own long results', () => {
  const retrieval = { name: 'get_from_working_memory', source: 'memory' };
  expect(sees({ carol: { tools: ['s__*'] } }, 'carol', retrieval)).toBe(true);
  expect(sees({ carol: { tools: ['s__*'] } }, 'carol', { name: 'web_search', source: 'web' })).toBe(false);
});

describe('the rule of a name', () => {
  const rules = compileRules({
    Laptop: { callsPerMinute: 1 },
    'oauth:desk': { callsPerMinute: 2 },
    'oauth:desk#ann': { callsPerMinute: 3 },
  });

  it.each([
    ['laptop', 1],
    ['oauth:desk', 2],
    ['oauth:desk#bob', 2],
    ['oauth:desk#ann', 3],
    ['oauth:Desk', undefined],
    ['oauth:desk#Ann', 2],
    ['oauth:desktop', undefined],
    ['oauth:desk%23ann', undefined],
    ['oauth:#desk', undefined],
  ])('holds for %s: %s', (client, expected) => expect(rules.of(client).callsPerMinute).toBe(expected));
});
