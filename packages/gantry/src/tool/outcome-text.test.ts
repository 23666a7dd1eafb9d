import { describe, expect, it } from 'vitest';
import type { Json } from '../kernel/json.ts';
import type { Part } from './outcome.ts';
import { outcomeText } from './outcome-text.ts';

const text = (parts: readonly Part[], structured?: Json): string => outcomeText({ status: 'done', parts, structured });

describe('the text form of a result', () => {
  it('joins text parts with line ends', () => {
    expect(
      text([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ).toBe('a\nb');
  });

  it('shows the structured value when there is no text', () => {
    expect(text([], { items: [{ name: 'Ada' }] })).toContain('"Ada"');
  });

  it('shows the structured value once when a text part is its echo in other spacing and key order', () => {
    const shown = text([{ type: 'text', text: '{ "total" : 2,\n "ids":[1,2] }' }], { ids: [1, 2], total: 2 });
    expect(shown.match(/total/g)).toHaveLength(1);
  });

  it('shows both when the text is only a summary', () => {
    const shown = text([{ type: 'text', text: 'Found 2 invoices.' }], { invoices: ['R-1', 'R-2'] });
    expect(shown).toMatch(/^Found 2 invoices\.\n[^]*R-1[^]*R-2/);
  });

  it.each<[string, readonly Part[], Json | undefined]>([
    ['no parts', [], undefined],
    ['an empty text', [{ type: 'text', text: '' }], undefined],
    ['only white space', [{ type: 'text', text: '   \n' }], undefined],
  ])('says in words that %s is nothing', (_what, parts, structured) => {
    expect(text(parts, structured)).toBe('(the tool returned nothing)');
  });

  it('shows an empty list as an answer', () => {
    expect(text([], { result: [] })).toContain('[]');
  });

  it('never puts bytes into the text', () => {
    const shown = text([
      { type: 'text', text: 'chart:' },
      { type: 'image', data: 'iVBORw0KGgoAAA', mimeType: 'image/png' },
    ]);
    expect(shown).toBe('chart:\n[image image/png, 10 bytes]');
  });

  it('shows links and embedded resources', () => {
    expect(
      text([
        { type: 'resource_link', uri: 'file:///q3.pdf', name: 'q3.pdf', mimeType: 'application/pdf' },
        { type: 'resource', resource: { uri: 'docs://a', mimeType: 'text/plain', text: 'body' } },
      ]),
    ).toBe('[resource link] q3.pdf: file:///q3.pdf (application/pdf)\n[resource docs://a (text/plain)]\nbody');
  });

  it.each<[unknown, string]>([
    [{ total: 1n }, 'a bigint at "total"'],
    [JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)), 'JSON nested deeper than 200 levels'],
  ])('names what it cannot write (row %#)', (structured, problem) => {
    expect(text([{ type: 'text', text: 'a' }], structured as Json)).toBe(`a\n(the structured result holds ${problem})`);
  });

  it('names a block of a kind it does not know', () => {
    expect(text([{ type: 'hologram' } as unknown as Part])).toBe('[hologram content block]');
  });
});
