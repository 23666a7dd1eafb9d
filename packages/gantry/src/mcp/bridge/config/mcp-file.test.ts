import { describe, expect, it } from 'vitest';
import { parseMcpFile } from './mcp-file.ts';

describe('the text of an mcp.json', () => {
  it('may have comments, trailing commas, a byte order mark and fields that nobody knows', () => {
    const text = '\uFEFF// servers\n{ "mcpServers": { "docs": { "url": "https://example.com/mcp", "note": 1, }, }, }';
    expect(parseMcpFile(text, 'mcp.json').entries.get('docs')).toEqual({ url: 'https://example.com/mcp', note: 1 });
  });

  it.each(['', '  \n', '{}', '{"mcpServers":{}}'])('may hold no servers: %j', (text) => {
    expect(parseMcpFile(text, 'mcp.json').entries.size).toBe(0);
  });

  it.each([
    ['{\n  "mcpServers": {\n    "a": }\n}', /^mcp\.json:3:10: not valid JSON/],
    ['{"mcpServers": []}', /a map "mcpServers" is needed/],
    ['{"servers": {}}', /a map "mcpServers" is needed/],
    ['[]', /a map "mcpServers" is needed/],
  ])('is refused with the place of the fault: %j', (text, message) => {
    expect(() => parseMcpFile(text, 'mcp.json')).toThrow(message);
  });

  it('costs no good entry for a bad one, and says what is wrong with that', () => {
    const text = JSON.stringify({
      mcpServers: { good: { url: 'https://a.example' }, bad: { url: 'ftp://a.example' } },
    });
    const { entries, refused } = parseMcpFile(text, 'mcp.json');
    expect([...entries.keys()]).toEqual(['good']);
    expect(refused.get('bad')).toBe('mcp.json: mcpServers.bad.url: must be an http or https URL.');
  });

  it.each(['', ' ', '__proto__', 'a\nb'])('refuses an entry that is named %j, and no other', (name) => {
    const entry = JSON.stringify({ url: 'https://a.example' });
    const text = `\uFEFF{ "mcpServers": { ${JSON.stringify(name)}: ${entry}, "a b": ${entry}, /* odd */ "constructor": ${entry}, }, }`;
    const { entries, refused } = parseMcpFile(text, 'mcp.json');
    expect([...entries.keys()]).toEqual(['a b', 'constructor']);
    expect([...refused.keys()]).toEqual([name]);
    expect(refused.get(name)).toContain(`mcp.json: mcpServers: ${JSON.stringify(name)} cannot be the name of a server`);
  });
});
