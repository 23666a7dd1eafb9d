import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import type { OwnOf } from './own-tasks.ts';
import { withOwnTasks } from './own-tasks.ts';

const ownOf: OwnOf = async (ids) => new Set(ids.filter((id) => id.startsWith('own')));
const away: OwnOf = async () => {
  throw new GantryError('store_unavailable', 'The store is away.');
};
const listing = (...ids: readonly string[]): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 3,
    result: { tasks: ids.map((taskId) => ({ taskId, status: 'working' })), nextCursor: 'more' },
  });
const json = (text: string, status = 200): Response =>
  new Response(text, { status, headers: { 'content-type': 'application/json' } });
const events = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
const told = async (response: Response, own = ownOf): Promise<string> =>
  await (await withOwnTasks(response, 's', own)).text();

describe('a list of tasks', () => {
  it('has those of its client alone, with the cursor of the next page', async () => {
    expect(await told(json(listing('own1', 'other', 'own2')))).toBe(listing('own1', 'own2'));
    expect(await told(json(listing('other')))).toBe(listing());
  });

  it('has them alone in an event too, which keeps its id', async () => {
    const notice = 'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n: alive\n\n';
    expect(await told(events(`${notice}id: 9\ndata: ${listing('own1', 'other')}\n\n`))).toBe(
      `${notice}id: 9\ndata: ${listing('own1')}\n\n`,
    );
  });

  it.each([
    ['an own list', json(` ${listing('own1')}`), ` ${listing('own1')}`],
    ['an error', json('{"id":3,"error":{"code":1}}'), '{"id":3,"error":{"code":1}}'],
    ['what cannot be read and lists nothing', events('data: hello\n\n'), 'data: hello\n\n'],
    ['a page that is no JSON', json('Not here', 404), 'Not here'],
  ])('leaves %s exactly as it was written', async (_what, response, text) => {
    expect(await told(response)).toBe(text);
  });

  it('is not got around by a member that is written twice', async () => {
    const twice = `{"jsonrpc":"2.0","id":3,"result":{"tasks":[{"taskId":"other"}],"tasks":[]}}`;
    expect(await told(json(twice))).not.toContain('other');
  });

  it('is refused where nobody can find out whose they are', async () => {
    await expect(told(json(listing('own1')), away)).rejects.toMatchObject({ code: 'store_unavailable' });
    const said = await told(events(`data: ${listing('own1')}\n\n`), away);
    expect(said).not.toContain('own1');
    expect(said).toContain('"id":3,"error":{"code":-32603,"message":"The store is away."}');
  });

  it('is refused where it cannot be read', async () => {
    await expect(told(json(`${listing('other')}}`))).rejects.toMatchObject({ code: 'execution_failed' });
    expect(await told(events(`data: ${listing('other')}}\n\n`))).not.toContain('other');
  });
});
