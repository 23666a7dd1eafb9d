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
    expect(reconcile({ a: { url }, b: other }).removed).toEqual([]);
  });

  it.each<[string, ServerEntry]>([
    ['case of the host', { url: 'HTTPS://EXAMPLE.com:443/mcp' }],
    ['trailing slash', { url: `${url}/` }],
    ['case of header names', { url }],
    ['policy', { url, toolTimeoutMs: 5, argGuards: [{ handler: 'x' }], tasks: true }],
  ])('are entries that differ only in %s', (_what, other) => {
    expect(reconcile({ a: { url }, b: other }).removed).toEqual(['b']);
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

  it('are given to entries with odd names too, which only earn a warning', () => {
    const { entries, warnings } = reconcile({ 'my server': { url }, a__b: { url: `${url}2` } });
    expect(entries.size).toBe(2);
    expect(warnings).toHaveLength(2);
  });
});
