import { describe, expect, it } from 'vitest';
import { isObject, parseJson } from '../../../kernel/json.ts';
import type { CallContext } from '../../../tool/context.ts';
import { outcomeText } from '../../../tool/outcome-text.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { OpenToolsOptions } from '../__fixtures__/open-tools.ts';
import { openTools, tool } from '../__fixtures__/open-tools.ts';
import { manageMessageTypes } from '../../wire/manage-messages.ts';
import { toLimit } from './find-tools.ts';
import { toInvokeArguments } from './invoke-arguments.ts';

const run: CallContext = { caller: 'model', namespace: 'session/1', tier: 'high' };

/** A bridge that answers one kind of request and keeps what it was asked. */
const answering = (type: string, answer: { messageType: string; body: unknown }) => {
  const asked: unknown[] = [];
  const manage: OpenToolsOptions['manage'] = (messageType, body) => {
    if (messageType !== type) return undefined;
    asked.push(body);
    return answer;
  };
  return { asked, manage };
};
const jsonOf = (text: string): unknown => {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
};

describe('the parameters', () => {
  it('are exactly these', async () => {
    await using world = await openTools();
    await world.connect({});
    const parameters = world.registry.getTools().map(({ name, inputSchema }) => {
      const properties = isObject(inputSchema['properties']) ? Object.keys(inputSchema['properties']) : [];
      const required = (inputSchema['required'] ?? []) as readonly string[];
      return `${name}(${properties.map((key) => (required.includes(key) ? key : `${key}?`)).join(', ')})`;
    });
    expect(parameters).toEqual([
      'mcp_find_tools(query, limit?)',
      'mcp_get_prompt(server_name, prompt_name, arguments?)',
      'mcp_get_service_details(server_name, tool_name?)',
      'mcp_invoke_tool(server_name, tool_name, arguments?)',
      'mcp_list_resources(server_name)',
      'mcp_list_services()',
      'mcp_read_resource(server_name, uri)',
      'mcp_register_server(name, type, url)',
      'mcp_unregister_server(server_name)',
    ]);
    expect(world.registry.getTools().every(({ source }) => source === 'mcp:management')).toBe(true);
  });
});

describe('mcp_list_services', () => {
  it('lists the servers without asking them, and without fingerprints', async () => {
    await using world = await openTools();
    await world.connect({ s: { tools: [tool('a')], summary: 'Does things.' } });
    expect(jsonOf(await world.call('mcp_list_services', {}, run))).toEqual([
      {
        serverName: 's',
        serverId: 'id-of-s',
        summary: 'Does things.',
        toolCount: 1,
        toolNames: ['a'],
        promptCount: 0,
        promptNames: [],
      },
    ]);
  });
});

describe('mcp_get_service_details', () => {
  const instructions = 'x'.repeat(2_001);
  const server = {
    tools: [tool('a'), tool('read_guide')],
    prompts: [{ name: 'ask', arguments: [] }],
    identity: { title: 'Server', instructions },
  };

  it('shows identity, capped instructions, schemas and typed names, and opens the tools but no prompts', async () => {
    await using world = await openTools();
    await world.connect({ s: server });
    const outcome = await world.outcome('mcp_get_service_details', { server_name: 'S' }, run);
    const [first, second] = outcome.status === 'done' ? outcome.parts : [];
    const value = jsonOf(first?.type === 'text' ? first.text : '');
    expect(value).toMatchObject({
      server: { name: 's', id: 'id-of-s', title: 'Server' },
      tools: [
        { name: 'a', parametersSchema: '{"type":"object","properties":{"text":{"type":"string"}}}' },
        { name: 'read_guide' },
      ],
      prompts: [{ name: 'ask', typedName: 's__ask-prompt' }],
    });
    expect(JSON.stringify(value)).toContain('2000 of 2001 characters shown. For the rest try s__read_guide.');
    expect(second).toMatchObject({ text: expect.stringContaining('by name now: s__a, s__read_guide') });
    expect(world.listed(run)).toEqual(['s__a', 's__read_guide']);
  });

  it('opens only the tool that is named', async () => {
    await using world = await openTools();
    await world.connect({ s: server });
    await world.call('mcp_get_service_details', { server_name: 's', tool_name: 'a' }, run);
    expect(world.listed(run)).toEqual(['s__a']);
  });

  it('points to mcp_invoke_tool where nothing is kept for the caller', async () => {
    await using world = await openTools();
    await world.connect({ s: server });
    const text = await world.call('mcp_get_service_details', { server_name: 's' }, { caller: 'model', tier: 'high' });
    expect(text).toContain('mcp_invoke_tool');
  });

  it("tells the bridge's error", async () => {
    await using world = await openTools();
    await world.connect({ s: server });
    expect(await world.call('mcp_get_service_details', { server_name: 'x' }, run)).toContain('no server "x"');
  });
});

describe('mcp_invoke_tool', () => {
  it('says which server has a tool that the named one has not, with the call to make', async () => {
    const missing = 'Server "notes" has no tool "read_file".';
    await using world = await openTools({ answer: () => failedOutcome('tool_not_found', missing) });
    await world.connect({
      notes: { tools: [tool('search')] },
      disk: {
        tools: [{ ...tool('read_file'), inputSchema: { type: 'object', properties: { path: { type: 'string' } } } }],
      },
    });
    const send = 'Send {"server_name": "disk", "tool_name": "read_file", "arguments": {"path"?: string}}';
    const call = (server: string, name: string): Promise<string> =>
      world.call('mcp_invoke_tool', { server_name: server, tool_name: name, arguments: { path: '/x' } }, run);
    const text = await call('notes', 'read_file');
    expect(text).toBe(`Server "notes" has no tool "read_file". Server "disk" has a tool "read_file". ${send}`);
    expect(await call('filesystem', 'read_file')).toContain(`Server "disk" has a tool "read_file". ${send}`);
    expect(await call('filesystem', 'raed-file')).toContain(`Server "disk" has a tool "read_file". ${send}`);
    // Of the named server's own the bridge has said what is near.
    expect(await call('notes', 'serach')).toBe(missing);
    expect(await call('notes', 'weather')).toBe(missing);
  });

  it('says nothing of servers whose tools this caller may not have', async () => {
    await using world = await openTools({
      answer: () => failedOutcome('tool_not_found', 'no such'),
      exposes: ({ target }) => target?.server !== 'secret',
    });
    await world.connect({ notes: { tools: [tool('search')] }, secret: { tools: [tool('read_file')] } });
    const args = { server_name: 'notes', tool_name: 'read_file', arguments: { path: '/x' } };
    expect(await world.call('mcp_invoke_tool', args, run)).toBe('no such');
  });

  it("names a tool whose arguments are wrong by the server's own name, which is the one that can be called", async () => {
    await using world = await openTools({ settings: { wrapperMode: 'off' } });
    await world.connect({
      disk: {
        tools: [
          {
            ...tool('read_file'),
            inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
          },
        ],
      },
    });
    const args = { server_name: 'disk', tool_name: 'read_file', arguments: { filename: '/x' } };
    const text = await world.call('mcp_invoke_tool', args, run);
    expect(text).toContain('Tool "read_file" was not called');
    expect(text).not.toContain('disk__');
    expect(world.sent).toEqual([]);
  });

  const needy = tool('needy', {
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string' }, n: { type: 'integer' } },
      required: ['path'],
    },
  });

  it.each([
    { how: 'arguments', sent: { arguments: { path: 'p' } } },
    { how: 'arguments in JSON text', sent: { arguments: '{"path":"p"}' } },
    { how: 'params', sent: { params: { path: 'p' } } },
    { how: 'args', sent: { args: { path: 'p' } } },
    { how: 'flat fields', sent: { path: 'p' } },
  ])('takes $how', async ({ sent }) => {
    await using world = await openTools();
    await world.connect({ s: { tools: [needy] } });
    expect(await world.call('mcp_invoke_tool', { server_name: 'S', tool_name: 'NEEDY', ...sent }, run)).toBe(
      's/needy ran',
    );
    expect(world.sent).toMatchObject([{ arguments: { path: 'p' } }]);
  });

  it("leaves a parameter that is named like an alias where the tool's schema has it", () => {
    const schema = { type: 'object', properties: { params: { type: 'object' } } };
    expect(toInvokeArguments({ server_name: 's', tool_name: 't', params: { a: 1 } }, schema)).toEqual({
      params: { a: 1 },
    });
    expect(toInvokeArguments({ server_name: 's', tool_name: 't', params: { a: 1 } }, undefined)).toEqual({ a: 1 });
  });

  it('sends no empty call to a tool that needs something, and shows the right form', async () => {
    await using world = await openTools();
    await world.connect({ s: { tools: [needy] } });
    const text = await world.call('mcp_invoke_tool', { server_name: 's', tool_name: 'needy' }, run);
    expect(text).toContain('it needs "path"');
    expect(text).toContain('"arguments": {"path": string, "n"?: integer}');
    expect(world.sent).toEqual([]);
  });

  it("repairs and checks by the tool's own schema", async () => {
    await using world = await openTools();
    await world.connect({ s: { tools: [needy] } });
    await world.call(
      'mcp_invoke_tool',
      { server_name: 's', tool_name: 'needy', arguments: { path: 'p', n: '7' } },
      run,
    );
    expect(world.sent).toMatchObject([{ arguments: { path: 'p', n: 7 } }]);
    const text = await world.call(
      'mcp_invoke_tool',
      { server_name: 's', tool_name: 'needy', arguments: { n: 7 } },
      run,
    );
    expect(text).toMatch(/"path"/);
    expect(world.sent).toHaveLength(1);
  });

  it('leaves a tool that is not in the catalog to the bridge', async () => {
    await using world = await openTools();
    await world.connect({ s: { tools: [needy] } });
    expect(await world.call('mcp_invoke_tool', { server_name: 's', tool_name: 'new', arguments: { a: 1 } }, run)).toBe(
      's/new ran',
    );
    expect(world.sent).toMatchObject([{ toolName: 'new', arguments: { a: 1 } }]);
  });
});

describe('mcp_register_server and mcp_unregister_server', () => {
  it("pass a model's wish on and tell the bridge's sentence", async () => {
    const registered = answering('McpRegisterServer', {
      messageType: 'McpServerRegistered',
      body: { serverName: 'new', connected: true, toolCount: 3, message: 'Server "new" is connected; it has 3 tools.' },
    });
    await using world = await openTools({ manage: registered.manage });
    await world.connect({});
    const server = { name: 'new', type: 'sse', url: 'http://example.test/' };
    expect(await world.call('mcp_register_server', server, run)).toBe('Server "new" is connected; it has 3 tools.');
    expect(registered.asked).toEqual([server]);
    expect(await world.call('mcp_register_server', { ...server, type: 'stdio' }, run)).toMatch(/"type"/);
    expect(registered.asked).toHaveLength(1);
  });

  it('say why not', async () => {
    const refused = answering('McpUnregisterServer', {
      messageType: 'McpManageError',
      body: { error: 'the operator keeps it' },
    });
    await using world = await openTools({ manage: refused.manage });
    await world.connect({});
    const outcome = await world.outcome('mcp_unregister_server', { server_name: 'Wiki' }, run);
    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'execution_failed' } });
    expect(outcomeText(outcome)).toContain('the operator keeps it');
    expect(refused.asked).toEqual([{ serverName: 'wiki' }]);
  });

  it('name what gave no answer in time', async () => {
    const asked = Promise.withResolvers<void>();
    const manage = (): 'silent' => {
      asked.resolve();
      return 'silent';
    };
    await using world = await openTools({ manage });
    await world.connect({});
    const text = world.call('mcp_unregister_server', { server_name: 'wiki' }, run);
    await asked.promise;
    await world.clock.advance(30_000);
    expect(await text).toBe('Unregistering server "wiki": the MCP bridge gave no answer within 30000 ms.');
  });
});

describe('mcp_get_prompt', () => {
  it('passes values that are no texts as their JSON', async () => {
    const messages = [{ role: 'user', content: 'Hi.', contentType: 'text' }];
    const prompt = answering('McpGetPrompt', {
      messageType: 'McpPrompt',
      body: { serverName: 's', promptName: 'p', messages },
    });
    await using world = await openTools({ manage: prompt.manage });
    await world.connect({});
    const args = { server_name: 's', prompt_name: 'p', arguments: { text: 'a', list: ['x'] } };
    expect(jsonOf(await world.call('mcp_get_prompt', args, run))).toEqual(messages);
    expect(prompt.asked).toEqual([{ serverName: 's', promptName: 'p', arguments: { text: 'a', list: '["x"]' } }]);
  });
});

describe('the resource tools', () => {
  it('list resources and templates without what is not known of them', async () => {
    const listed = answering('McpListResources', {
      messageType: 'McpResources',
      body: {
        server: 's',
        resources: [{ uri: 'a:b', name: 'b', description: null }],
        templates: [{ uriTemplate: 'a:{x}' }],
      },
    });
    await using world = await openTools({ manage: listed.manage });
    await world.connect({});
    expect(jsonOf(await world.call('mcp_list_resources', { server_name: 's' }, run))).toEqual({
      server: 's',
      resources: [{ uri: 'a:b', name: 'b' }],
      templates: [{ uriTemplate: 'a:{x}' }],
    });
  });

  it('say plainly that a server has none', async () => {
    const listed = answering('McpListResources', {
      messageType: 'McpResources',
      body: { server: 's', resources: [], templates: [] },
    });
    await using world = await openTools({ manage: listed.manage });
    await world.connect({});
    expect(await world.outcome('mcp_list_resources', { server_name: 's' }, run)).toMatchObject({
      status: 'done',
      parts: [{ text: 'Server "s" has no resources.' }],
    });
  });

  it('read one', async () => {
    const body = { server: 's', uri: 'a:b', contents: [{ uri: 'a:b', mimeType: 'text/plain', text: 'hi' }] };
    const read = answering('McpReadResource', { messageType: 'McpResource', body });
    await using world = await openTools({ manage: read.manage });
    await world.connect({});
    expect(jsonOf(await world.call('mcp_read_resource', { server_name: 's', uri: 'a:b' }, run))).toEqual(body);
    expect(read.asked).toEqual([{ serverName: 's', uri: 'a:b' }]);
  });
});

describe('mcp_find_tools', () => {
  const many = Array.from({ length: 30 }, (_, at) => tool(`send_mail_${at}`, { description: `Sends mail ${at}.` }));

  it('shows the best three with their schemas and the others with a signature, and makes all callable', async () => {
    await using world = await openTools();
    await world.connect({ s: { tools: many } });
    const found = jsonOf(await world.call('mcp_find_tools', { query: 'send mail', limit: 5 }, run));
    const shown = (isObject(found) ? found['tools'] : []) as readonly object[];
    expect(shown.map((one) => ('inputSchema' in one ? 'schema' : 'signature' in one ? 'signature' : '?'))).toEqual([
      'schema',
      'schema',
      'schema',
      'signature',
      'signature',
    ]);
    expect(shown[4]).toMatchObject({
      server: 's',
      serverId: 'id-of-s',
      signature: '{"text"?: string}',
      activated: true,
    });
    expect(found).toMatchObject({ query: 'send mail', note: expect.stringContaining('call these by name now') });
    expect(world.listed(run)).toHaveLength(5);
  });

  it('puts an exact typed name first, in any case', async () => {
    await using world = await openTools();
    await world.connect({ s: { tools: many } });
    expect(jsonOf(await world.call('mcp_find_tools', { query: 'S__SEND_MAIL_17' }, run))).toMatchObject({
      tools: [{ name: 's__send_mail_17' }, {}, {}, {}, {}, {}, {}, {}, {}, {}],
    });
  });

  it('leaves out what shares only a common word with the query, also beside a tool that was named', async () => {
    await using world = await openTools();
    const others = Array.from({ length: 60 }, (_, at) => tool(`tool_${at}`, { description: 'Runs a job.' }));
    const invoices = [
      tool('create_invoice', { description: 'Creates an invoice.' }),
      tool('invoice_list', { description: 'Lists.' }),
    ];
    await world.connect({ s: { tools: [...others, ...invoices] } });
    for (const query of ['create an invoice', 'create_invoice'])
      expect(jsonOf(await world.call('mcp_find_tools', { query }, run)), query).toMatchObject({
        tools: [{ name: 's__create_invoice' }, { name: 's__invoice_list' }],
      });
  });

  it('gives prompts a list of their own, and none where there are none', async () => {
    await using world = await openTools();
    const prompts = [{ name: 'mail', description: 'Writes a mail.', arguments: [] }];
    await world.connect({ s: { tools: many.slice(0, 1), prompts }, t: { tools: [tool('weather')] } });
    expect(jsonOf(await world.call('mcp_find_tools', { query: 'mail' }, run))).toMatchObject({
      tools: [{ name: 's__send_mail_0' }],
      prompts: [{ name: 's__mail-prompt', server: 's', prompt: 'mail', activated: true }],
    });
    expect(jsonOf(await world.call('mcp_find_tools', { query: 'weather' }, run))).not.toHaveProperty('prompts');
  });

  it('says that nothing was added where nothing is kept for the caller, and what to do', async () => {
    await using world = await openTools();
    await world.connect({ s: { tools: many } });
    const found = jsonOf(await world.call('mcp_find_tools', { query: 'mail' }, { caller: 'client' }));
    expect(found).toMatchObject({ note: expect.stringContaining('mcp_invoke_tool') });
    expect(JSON.stringify(found)).not.toContain('"activated":true');
  });

  it('says what to do when nothing fits', async () => {
    await using world = await openTools();
    await world.connect({ s: { tools: many } });
    expect(jsonOf(await world.call('mcp_find_tools', { query: 'zzzz' }, run))).toMatchObject({
      tools: [],
      note: expect.stringContaining('mcp_list_services'),
    });
  });

  it('refuses a query that is blank', async () => {
    await using world = await openTools();
    await world.connect({});
    expect(await world.outcome('mcp_find_tools', { query: ' ' }, run)).toMatchObject({
      status: 'failed',
      failure: { code: 'invalid_arguments' },
    });
    const failure = { message: expect.stringContaining('2001 characters, and 2000 are the most') as string };
    expect(await world.outcome('mcp_find_tools', { query: 'x'.repeat(2_001) }, run)).toMatchObject({ failure });
  });

  it('stays small when a server describes and demands without measure', async () => {
    await using world = await openTools();
    const huge = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, at) => [`key${at}`, { type: 'string', description: 'x'.repeat(50) }]),
    );
    const vast = many.map((one) => ({
      ...one,
      description: 'mail '.repeat(2_000),
      inputSchema: { type: 'object', properties: huge },
    }));
    await world.connect({ s: { tools: vast } });
    expect((await world.call('mcp_find_tools', { query: 'mail', limit: 25 }, run)).length).toBeLessThan(32_000);
  });

  it.each([
    [0, 1],
    [-1, 1],
    [999, 25],
    ['7', 7],
    [undefined, 10],
    ['many', 10],
  ])('takes the limit %s for %s', (given, meant) => {
    expect(toLimit(given)).toBe(meant);
  });
});

describe('a server that a caller may not know of', () => {
  const knows: OpenToolsOptions['knows'] = ({ client }, server) => client !== 'bob' || server !== 'secret';
  const bob: CallContext = { caller: 'client', client: 'bob', wrapperMode: 'eager' };
  const unknown: OpenToolsOptions['manage'] = (_type, body) => ({
    messageType: manageMessageTypes.error,
    body: { error: `There is no server "${isObject(body) ? String(body['serverName']) : ''}".` },
  });

  it.each([
    ['mcp_get_service_details', {}],
    ['mcp_invoke_tool', { tool_name: 'a', arguments: {} }],
    ['mcp_get_prompt', { prompt_name: 'plan' }],
    ['mcp_list_resources', {}],
    ['mcp_read_resource', { uri: 'docs://secret' }],
    ['mcp_unregister_server', {}],
  ])('is to %s what one is that does not exist, also when it offers nothing', async (name, more) => {
    await using world = await openTools({
      knows,
      manage: (type, body) => (type === manageMessageTypes.getDetails ? undefined : unknown(type, body)),
      answer: ({ server }) => failedOutcome('tool_not_found', `There is no server "${server}".`),
    });
    await world.connect({ secret: {}, open: { tools: [tool('a')] } });
    const texts = await Promise.all(
      ['secret', ' SECRET ', 'ghost'].map((server) => world.call(name, { ...more, server_name: server }, bob)),
    );
    const said = (server: string): string =>
      `There is no server "${server}". Connected servers: open; see mcp_list_services.`;
    expect(texts).toEqual([said('secret'), said('secret'), said('ghost')]);
  });

  it('is not listed, in the guide neither, and its prompts cannot be called by name', async () => {
    await using world = await openTools({ knows, exposes: ({ promptOf }) => promptOf?.server !== 'secret' });
    await world.connect({
      secret: { prompts: [{ name: 'plan', arguments: [] }] },
      bare: {},
      open: { tools: [tool('a')] },
    });
    expect(jsonOf(await world.call('mcp_list_services', {}, bob))).toMatchObject([
      { serverName: 'bare' },
      { serverName: 'open', toolNames: ['a'] },
    ]);
    expect(await world.call('secret__plan-prompt', {}, bob)).toContain('no tool named');
    await world.disconnect('secret');
    expect(await world.call('secret__plan-prompt', {}, bob)).not.toContain('was a tool of server');
  });
});

describe('what a caller may not have of a server that it may know of', () => {
  const some: CallContext = { caller: 'client', client: 'carol', wrapperMode: 'eager' };

  it('is not named by the list of servers, by details, or by what is said of a name that is not known', async () => {
    await using world = await openTools({ exposes: ({ name }) => name.startsWith('mcp_') || name === 's__a' });
    await world.connect({
      s: {
        tools: [tool('a'), tool('hidden')],
        prompts: [{ name: 'plan', arguments: [] }],
        summary: '2 tools: a, hidden.',
      },
    });
    expect(jsonOf(await world.call('mcp_list_services', {}, some))).toMatchObject([
      { toolCount: 1, toolNames: ['a'], promptCount: 0, promptNames: [], summary: '' },
    ]);
    const told = [
      await world.call('mcp_get_service_details', { server_name: 's' }, some),
      await world.call('mcp_get_service_details', { server_name: 's', tool_name: 'ghost' }, some),
      await world.call('mcp_get_service_details', { server_name: 's', tool_name: 'x' }, some),
      await world.call('mcp_invoke_tool', { server_name: 's', tool_name: 'ghost' }, some),
    ];
    expect(told.join('\n')).not.toMatch(/hidden|plan/);
    expect(await world.call('mcp_get_prompt', { server_name: 's', prompt_name: 'plan' }, some)).toContain(
      'You can use no prompt "plan"',
    );
    expect(world.sent).toEqual([]);
  });

  it.each([
    ['whose tools are still to come', {}],
    ['of which it may have all that is listed', { s: { tools: [tool('a')] } }],
  ])('is refused by its typed name before it is listed, at a server %s', async (_which, servers) => {
    const allowed = new Set(['s__a', 's__ab', 's__plan-prompt']);
    await using world = await openTools({
      exposes: ({ name }) => name.startsWith('mcp_') || allowed.has(name),
      manage: (type, body) =>
        type === manageMessageTypes.getPrompt
          ? { messageType: manageMessageTypes.prompt, body: { messages: [JSON.stringify(body)] } }
          : undefined,
    });
    await world.connect(servers);
    const invoke = (name: string) => world.call('mcp_invoke_tool', { server_name: 's', tool_name: name }, some);
    const fill = (name: string) => world.call('mcp_get_prompt', { server_name: 's', prompt_name: name }, some);
    expect(await invoke('wipe')).toContain('You can call no tool "wipe"');
    expect(await fill('secret')).toContain('You can use no prompt "secret"');
    expect(world.sent).toEqual([]);
    await invoke('ab');
    expect(world.sent).toMatchObject([{ server: 's' }]);
    expect(await fill('plan')).toContain('plan');
    expect(await fill('plan')).not.toContain('You can use no prompt');
  });

  it('is judged by the name of its server as that is written, whatever the case in which it is asked for', async () => {
    await using world = await openTools({
      exposes: ({ name }) => name.startsWith('mcp_') || name.startsWith('Wiki__a'),
    });
    await world.connect({ Wiki: { tools: [tool('a')] } });
    await world.call('mcp_invoke_tool', { server_name: 'wiki', tool_name: 'ab' }, some);
    expect(world.sent).toHaveLength(1);
  });
});
