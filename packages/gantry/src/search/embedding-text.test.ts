import { expect, it } from 'vitest';
import { toEmbeddingText } from './embedding-text.ts';
import type { ToolEntry } from './tool-fields.ts';

const entry = (change: Partial<ToolEntry> = {}): ToolEntry => ({
  id: 'mail__sendNote',
  server: 'mail',
  name: 'sendNote',
  typedName: 'mail__sendNote',
  description: '  Sends it. ',
  inputSchema: { type: 'object', properties: { toAddress: {}, body: {} } },
  kind: 'tool',
  ...change,
});

it('tells server, name in words, description and parameters', () => {
  expect(toEmbeddingText(entry())).toBe('mail: send note\nSends it.\nParameters: to address, body');
});

it('has the title where there is one, and no empty lines', () => {
  expect(toEmbeddingText(entry({ title: 'Post a note', description: '', inputSchema: null }))).toBe(
    'mail: Post a note',
  );
});

it('stays short', () => {
  const properties = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`p${at}`, {}]));
  const text = toEmbeddingText(entry({ description: 'x'.repeat(9_000), inputSchema: { properties } }));
  expect(text.length).toBeLessThan(2_000);
});
