import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { providerToolName, typedPromptName, typedToolName } from './tool-name.ts';

const server = 'customer-relationship-management-eu-west';
const tool = 'opportunity_line_items_bulk_export_to_spreadsheet_v';

describe('typedToolName', () => {
  it('joins server and tool and replaces what providers refuse', () => {
    expect(typedToolName('wiki', 'page.read now')).toBe('wiki__page-read-now');
    expect(typedPromptName('wiki', 'daily/brief')).toBe('wiki__daily-brief-prompt');
  });

  it('shortens names over 64 characters so that they stay apart and stay the same', () => {
    const names = ['1', '2'].map((version) => typedToolName(server, tool + version));
    expect(new Set(names).size).toBe(2);
    expect(names.every((name) => name.length === 64)).toBe(true);
    expect(['2', '1'].map((version) => typedToolName(server, tool + version)).reverse()).toEqual(names);
  });

  it('keeps pairs apart that join to the same long text', () => {
    const long = 'x'.repeat(60);
    expect(typedToolName(`${long}__a`, 'b')).not.toBe(typedToolName(long, 'a__b'));
    expect(typedToolName(long, `${long}-prompt`)).not.toBe(typedPromptName(long, long));
  });

  it('does not let a tool take the short name of another by calling itself so', () => {
    const short = typedToolName(server, `${tool}1`);
    const [forgedServer, forgedTool] = [short.slice(0, server.length), short.slice(server.length + 2)];
    expect(typedToolName(forgedServer, forgedTool)).not.toBe(short);
  });

  it('always fits what providers take', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.string({ maxLength: 80 }), (server, tool) => {
        expect(typedToolName(server, tool)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(typedPromptName(server, tool)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      }),
    );
  });
});

describe('providerToolName', () => {
  it.each([
    ['_health', '_health'],
    ['3d_render', '_3d_render'],
    ['_3d_render', '__3d_render'],
    ['-x', '_-x'],
    ['ok', 'ok'],
  ])('gives Gemini a letter or underscore first: %s', (name, sent) => {
    expect(providerToolName(name, 'gemini')).toBe(sent);
  });

  it('leaves a name that the provider takes as it is', () => {
    expect(providerToolName('3d_render', 'openai')).toBe('3d_render');
  });

  it('keeps different names different and fits the pattern of each provider', () => {
    const name = fc.string({ unit: fc.constantFrom('a', '_', '3', '-', '.', ' '), minLength: 1, maxLength: 70 });
    fc.assert(
      fc.property(name, name, (a, b) => {
        const sent = [providerToolName(a, 'gemini'), providerToolName(b, 'gemini')];
        expect(sent[0]).toMatch(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/);
        expect(providerToolName(a, 'anthropic')).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(sent[0] === sent[1]).toBe(a === b);
      }),
    );
  });
});
