import { describe, expect, it } from 'vitest';
import { reconcileEntries } from './reconcile.ts';
import type { ServerEntry } from './server-entry.ts';

const reconcile = (entries: Record<string, ServerEntry>, defaults: Record<string, string> = {}) => {
  let ids = 0;
  return reconcileEntries(new Map(Object.entries(entries)), defaults, () => String((ids += 1)).padStart(12, '0'));
};
const url = 'https://example.com/mcp';

describe('doubles', () => {
  it.each<[string, Record<string, ServerEntry>, string]>([
    ['an operator entry, of an agent twin', { a: { url, origin: 'agent' }, b: { url } }, 'b'],
    [
      'an operator entry, of an agent twin with the name of a default server',
      { docs: { url, origin: 'agent' }, z: { url } },
      'z',
    ],
    ['the name of a default server, of two operator entries', { a: { url }, docs: { url } }, 'docs'],
    ['the alphabetically first, of equals', { z: { url }, b: { url }, m: { url } }, 'b'],
  ])('keep %s', (_what, entries, kept) => {
    const { entries: result, removed } = reconcile(entries, { docs: url });
    expect([...result.keys()]).toEqual([kept]);
    expect(removed).toHaveLength(Object.keys(entries).length - 1);
  });

  it.each<[string, ServerEntry]>([
    ['path', { url: 'https://example.com/MCP' }],
    ['query', { url: `${url}?a=1` }],
    ['user', { url: 'https://u:p@example.com/mcp' }],
    ['transport', { url, transportMode: 'sse' }],
    ['header', { url, headers: { a: '1' } }],
    ['filter', { url, deniedTools: ['x'] }],
    ['auth profile', { url, auth: { profile: 'p' } }],
  ])('are not entries that differ in their %s', (_what, other) => {
    expect(reconcile({ a: { url }, b: other })).toMatchObject({ removed: [], doubles: new Map() });
  });

  it.each<[string, ServerEntry]>([
    ['folder', { command: 'node', args: ['s.js'], cwd: '/b' }],
    ['environment', { command: 'node', args: ['s.js'], cwd: '/a', env: { A: '1' } }],
  ])('are not programs that differ in their %s', (_what, other) => {
    const a = { command: 'node', args: ['s.js'], cwd: '/a' };
    expect(reconcile({ a, b: other })).toMatchObject({ removed: [], doubles: new Map() });
    expect(reconcile({ a, b: { ...a } }).removed).toEqual(['b']);
  });

  it.each<[string, ServerEntry]>([
    ['case of the host', { url: 'HTTPS://EXAMPLE.com:443/mcp' }],
    ['trailing slash', { url: `${url}/` }],
    ['way to say the transport', { url, transportMode: 'auto', type: 'http' }],
  ])('are entries that differ only in the %s', (_what, other) => {
    expect(reconcile({ a: { url }, b: other }).removed).toEqual(['b']);
  });

  it.each<[string, ServerEntry]>([
    ['"toolTimeoutMs"', { url, toolTimeoutMs: 5 }],
    ['"argGuards", "tasks"', { url, argGuards: [{ handler: 'x' }], tasks: true }],
    ['"oauth"', { url, oauth: { clientId: 'c' } }],
    ['"note"', Object.assign({ url }, { note: 'ours' })],
    ['"deniedTools"', { url, origin: 'agent', deniedTools: ['x'] }],
  ])('stay, with the reason, when the operator has said %s in one of them', (fields, other) => {
    const first = other.deniedTools ? { url, deniedTools: ['x'], toolTimeoutMs: 5 } : { url };
    const { entries, removed, doubles } = reconcile({ b: other, a: first });
    expect([[...entries.keys()], removed]).toEqual([['a', 'b'], []]);
    expect(doubles.get('b')).toContain(
      `the same server as "a", which goes before it, with other ${other.deniedTools ? '"toolTimeoutMs"' : fields};`,
    );
    expect(doubles.get('b')).toContain('Put it into "a" and remove this entry, or remove or disable "a".');
  });

  it('are not disabled entries, in whatever order they stand, and only what a model registered gives way to those', () => {
    const off = { url, disabled: true };
    expect(reconcile({ a: off, b: { url }, c: off })).toMatchObject({ removed: [], doubles: new Map() });
    expect(reconcile({ z: off, b: { url, origin: 'agent' } })).toMatchObject({ removed: ['b'], doubles: new Map() });
  });

  it('keep what an operator has added to a registered entry, not the one just as a model registered it', () => {
    const guarded: ServerEntry = { url, origin: 'agent', argGuards: [{ handler: 'x' }] };
    const { entries, removed } = reconcile({ a: { url, origin: 'agent' }, z: guarded });
    expect([[...entries.keys()], removed]).toEqual([['z'], ['a']]);
  });
});

describe('default servers', () => {
  it.each(['HTTPS://Example.COM/mcp', 'https://example.com/mcp/', 'https://example.com:443/mcp'])(
    'are not seeded when an entry has their address as %s',
    (same) => {
      expect([...reconcile({ mine: { url: same } }, { docs: url }).entries.keys()]).toEqual(['mine']);
    },
  );

  it('are seeded with an id when nobody has them, and never over an entry of their name', () => {
    const { entries, written } = reconcile(
      { wiki: { url: 'https://other.example/mcp' } },
      { docs: url, wiki: `${url}/wiki` },
    );
    expect(entries.get('docs')).toEqual({ type: 'sse', url, id: '000000000002' });
    expect(entries.get('wiki')?.url).toBe('https://other.example/mcp');
    expect(written).toEqual(['wiki', 'docs']);
  });
});

describe('ids', () => {
  it('are given once and kept; a copied one is replaced', () => {
    const id = 'abcdefabcdef';
    const { entries, written } = reconcile({ a: { url, id }, b: { url: `${url}2`, id } });
    expect([...entries.values()].map((entry) => entry.id)).toEqual([id, '000000000001']);
    expect(written).toEqual(['b']);
  });

  it('stay with the entry that is connected when it was copied from a double', () => {
    const id = 'abcdefabcdef';
    const { entries, written } = reconcile({ b: { url, id, tasks: true }, a: { url, id } });
    expect([entries.get('a')?.id, entries.get('b')?.id, written]).toEqual([id, '000000000001', ['b']]);
  });

  it('are given to entries with odd names too, which only earn a warning', () => {
    const { entries, warnings } = reconcile({ 'my server': { url }, a__b: { url: `${url}2` } });
    expect(entries.size).toBe(2);
    expect(warnings).toHaveLength(2);
  });

  it('gives an entry the same id wherever the same file is read, and others other ones', () => {
    const idsOf = (entries: Readonly<Record<string, ServerEntry>>): unknown[] =>
      [...reconcileEntries(new Map(Object.entries(entries)), {}).entries.values()].map(({ id }) => id);
    const file = { a: { url: 'https://a.example/mcp' }, b: { url: 'https://b.example/mcp' } };
    const [first, second] = idsOf(file);
    expect(idsOf(file)).toEqual([first, second]);
    expect(first).toMatch(/^[0-9a-f]{12}$/);
    expect(first).not.toBe(second);
    expect(idsOf({ a: { url: 'https://other.example/mcp' } })).not.toEqual([first]);
  });
});
