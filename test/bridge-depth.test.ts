import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startBridge } from './fixtures/bridge-harness.ts';
import type { SeenRequest } from './fixtures/raw-server.ts';
import { endWithBody, startRawServer, toolNamed, type written } from './fixtures/raw-server.ts';

const levels = 100_000;
const deep = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

/** Answers with a result whose text comes as it is: encoding so deep a value is what overflows. */
const endWithResult = ({ id }: SeenRequest, response: ServerResponse, result: string): typeof written =>
  endWithBody(response, 'application/json', `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);

describe('a server that nests without end', () => {
  it.each([
    ['its structured result', `{"content":[],"structuredContent":${deep}}`],
    ['an error result', `{"isError":true,"content":[],"structuredContent":${deep}}`],
    ['a member of a content block', `{"content":[{"type":"text","text":"a","_meta":${deep}}]}`],
  ])('fails the call at once in %s', async (_where, result) => {
    await using server = await startRawServer({
      'tools/call': (request, response) => endWithResult(request, response, result),
    });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    for (const caller of ['model', 'client', 'passthrough', 'operator'] as const)
      expect(await t.call('s', 'echo', {}, { context: { caller } })).toMatchObject({
        status: 'failed',
        failure: {
          code: 'execution_failed',
          message: expect.stringContaining('JSON nested deeper than 200 levels'),
        },
      });
  });

  it('loses only the tools that do it', async () => {
    const tool = JSON.stringify(toolNamed('echo'));
    await using server = await startRawServer({
      'tools/list': (request, response) =>
        endWithResult(request, response, `{"tools":[${tool},{"name":"odd","inputSchema":{},"_meta":${deep}}]}`),
    });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const { servers } = await t.untilIndexed((message) => message.servers.length > 0);
    expect(JSON.stringify(servers)).toContain('echo');
    expect(JSON.stringify(servers)).not.toContain('odd');
    expect(t.log.filter(({ level }) => level === 'error')).toEqual([]);
    expect(t.log.some(({ message }) => message.includes('nests members of tools/list deeper than 200 levels'))).toBe(
      true,
    );
  });
});
