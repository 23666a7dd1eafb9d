import { describe, expect, it } from 'vitest';
import { fingerprint, toolFingerprint } from './fingerprint.ts';

describe('fingerprints', () => {
  const tool = { name: 't', description: 'd', inputSchema: { type: 'object', properties: { a: {}, b: {} } } };

  it('do not depend on the order of keys', () => {
    expect(toolFingerprint(tool)).toBe(
      toolFingerprint({ inputSchema: { properties: { b: {}, a: {} }, type: 'object' }, description: 'd', name: 't' }),
    );
    expect(fingerprint({})).toMatch(/^[0-9a-f]{64}$/);
  });

  it('differ for every part of a tool, and between no schema, an empty one and text', () => {
    const schemas = [tool.inputSchema, {}, null, '{}', 'not json'];
    const prints = [
      ...schemas.map((inputSchema) => toolFingerprint({ ...tool, inputSchema })),
      toolFingerprint({ ...tool, name: 'u' }),
      toolFingerprint({ ...tool, description: '' }),
      toolFingerprint({ ...tool, description: undefined }),
    ];
    expect(new Set(prints).size).toBe(prints.length);
    expect(toolFingerprint({ name: 't' })).toBe(toolFingerprint({ name: 't', description: null, inputSchema: null }));
  });
});
